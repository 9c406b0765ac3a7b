/** For those who host calls themselves: the whole service, or a worker in a process of their own. */
export { type ConnectionSettings, configuredConnection, connectionSettings } from './connect.ts';
export { type Check, doctor } from './doctor.ts';
export { type Service, type ServiceOptions, startService } from './service.ts';
export { type NamespaceState, type SetupResult, inspectNamespace, setupNamespace } from './setup.ts';
export { type CountersignWorker, type WorkerOptions, createWorker } from './worker.ts';
