/** Argument types of tools, inferred from their schemas. Types only: no tool is loaded by a client. */
import type { StaticParse, TObject } from 'typebox';
import type { JsonObject } from '../protocol/json.ts';
import type { deleteTool } from '../tools/delete.ts';
import type { editTool } from '../tools/edit.ts';
import type { listTool } from '../tools/list.ts';
import type { readTool } from '../tools/read.ts';
import type { searchTool } from '../tools/search.ts';
import type { shellTool } from '../tools/shell.ts';
import type { statTool } from '../tools/stat.ts';
import type { writeTool } from '../tools/write.ts';

/** The tools that come with Countersign, by name. */
export interface BuiltInTools {
  read: typeof readTool;
  write: typeof writeTool;
  edit: typeof editTool;
  delete: typeof deleteTool;
  list: typeof listTool;
  stat: typeof statTool;
  search: typeof searchTool;
  shell: typeof shellTool;
}

/** What a tool called `Name` takes; plain JSON for a name that is not known when compiling. */
export type ArgumentsOf<Tools, Name> = Name extends keyof Tools
  ? Tools[Name] extends { parameters: infer Parameters extends TObject }
    ? StaticParse<Parameters>
    : JsonObject
  : JsonObject;
