/** `countersign workspace`: folders that sessions may work in, besides the one where the service was started. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Common, defineCommand, defineGroup, onAction } from '../command.ts';
import { note, print, printJson } from '../io/output.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import type { Ended } from '../program.ts';

const EXAMPLES = `
countersign workspace add ~/projects/website
countersign workspace list

A folder is trusted with all below it. / and a home folder as a whole are never.`;

export function command(ended: Ended): Command {
  const group = defineGroup(
    'workspace',
    'Folders that sessions may work in, besides the one where the service was started.',
    EXAMPLES,
  );
  const one = (name: string, description: string): Command => defineCommand(name, description, EXAMPLES);
  group.addCommand(
    onAction(one('add', 'Trusts a folder and all below it.').argument('<dir>', 'the folder'), ended, add),
  );
  group.addCommand(onAction(one('list', 'Lists the folders that were added.'), ended, list));
  group.addCommand(onAction(one('remove', 'Takes a folder out again.').argument('<dir>', 'the folder'), ended, remove));
  return group;
}

async function add(dir: string, { json }: Common): Promise<void> {
  const { addTrustedRoot, file, own } = await trust();
  const workspace = await addTrustedRoot(file, dir, own);
  if (json) printJson({ workspace, trusted: true });
  else print(`Sessions may work in ${safeLine(workspace)}.`);
}

async function list({ json }: Common): Promise<void> {
  const { listTrustedRoots, file } = await trust();
  const workspaces = await listTrustedRoots(file);
  if (json) printJson({ workspaces });
  else if (workspaces.length === 0)
    note('None was added. The folder where the service was started is trusted without it.');
  else for (const workspace of workspaces) print(safeLine(workspace));
}

async function remove(dir: string, { json }: Common): Promise<void> {
  const { removeTrustedRoot, file } = await trust();
  const removed = await removeTrustedRoot(file, dir);
  if (json) printJson({ workspace: dir, trusted: false, removed });
  else print(removed ? `${safeLine(dir)} is no longer trusted.` : `${safeLine(dir)} was not in the list.`);
}

async function trust() {
  const [roots, { configDir, stateDir }] = await Promise.all([
    import('../../context/index.ts'),
    import('../../server/paths.ts'),
  ]);
  return { ...roots, file: join(configDir(), 'workspaces.json'), own: [stateDir(), configDir()] };
}
