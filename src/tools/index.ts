/** Tools: what they are, which there are, and how their arguments are checked. */
export { builtInTools, createCatalogue, fingerprint, nearestNames, type Catalogue } from './catalogue.ts';
export { defineTool, type Subject, type Tool, type ToolDefinition, type ToolOutput } from './define-tool.ts';
export { HANDLE_NAMES } from './tool-context.ts';
export type * from './tool-context.ts';
export { schemaOf, validateArguments, type Validated } from './validate.ts';
export { deleteTool } from './delete.ts';
export { editTool } from './edit.ts';
export { listTool } from './list.ts';
export { readTool } from './read.ts';
export { searchTool } from './search.ts';
export { shellTool } from './shell.ts';
export { statTool } from './stat.ts';
export { writeTool } from './write.ts';
