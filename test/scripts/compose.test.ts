import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../support/processes.ts';

interface ComposeService {
  image: string;
  restart?: string;
  ports?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  environment?: Record<string, string>;
}

const text = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8');
const { services } = parse(text, { merge: true }) as { services: Record<string, ComposeService> };
const isJob = ({ restart }: ComposeService): boolean => restart?.startsWith('on-failure') ?? false;

describe('docker-compose.yml', () => {
  test('has the database, the schema job, Temporal, its UI and the worker', () => {
    expect(Object.keys(services)).toEqual(['postgres', 'schema', 'temporal', 'ui', 'setup', 'worker']);
  });

  test.each(Object.entries(services))('%s has a pinned image, and a health check unless it is a job', (_, service) => {
    expect(service.image).toMatch(/^[\w/-]+:\d+\.\d+/);
    if (!isJob(service)) expect(service.healthcheck?.test.length).toBeGreaterThan(1);
  });

  test('publishes ports on the loopback address only', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports).toEqual(['127.0.0.1:7233:7233', '127.0.0.1:8080:8080']);
  });

  test('has no password in it', () => {
    const secrets = Object.values(services).flatMap((service) =>
      Object.entries(service.environment ?? {}).filter(([name]) => /PASSWORD|PWD|SECRET|KEY/.test(name)),
    );
    expect(secrets.length).toBe(3);
    for (const [, value] of secrets) expect(value).toBe('${POSTGRES_PASSWORD:?set it in .env}');
  });

  test('waits for services to be healthy and for jobs to be done', () => {
    const waits = Object.values(services).flatMap((service) => Object.entries(service.depends_on ?? {}));
    for (const [name, { condition }] of waits) {
      const awaited = services[name];
      expect(awaited, name).toBeDefined();
      expect(condition).toBe(awaited && isJob(awaited) ? 'service_completed_successfully' : 'service_healthy');
    }
  });

  test('runs the server that the embedded one is, and this version of ours', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(services['worker']?.image).toBe(`countersign:${version}`);
    const mod = await readFile(join(ROOT, 'temporal-server/go.mod'), 'utf8');
    const server = /go\.temporal\.io\/server v([\d.]+)/.exec(mod)?.[1];
    expect(services['temporal']?.image).toBe(`temporalio/server:${server}`);
    expect(services['schema']?.image).toBe(`temporalio/admin-tools:${server}`);
  });
});

describe('the Dockerfile', () => {
  test('runs the worker as a user without rights, on the Node that the clone runs on', async () => {
    const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
    const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>;
    };
    const images = dockerfile.match(/^FROM \S+/gm);
    const image = `FROM node:${lock.packages['node_modules/node']?.version}-bookworm-slim`;
    expect(images).toEqual([image, image]);
    expect(dockerfile).toMatch(/^USER node\nENTRYPOINT/m);
  });
});
