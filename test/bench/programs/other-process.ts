/**
 * A client in a process of its own. Arguments: address, session, rounds. Prints `round N` as it goes, then the samples
 * as one line of JSON.
 */
import { Client, Connection } from '@temporalio/client';
import { Countersign } from '../../../src/client/index.ts';
import { interleave } from '../measure/interleave.ts';
import { read, write } from '../rows/calls.ts';
import { type FloorWorkflow, runFloor } from '../stage/floor-client.ts';

const [address = '', id = '', rounds = '40'] = process.argv.slice(2);
const connection = await Connection.connect({ address });
const client = new Client({ connection });
const countersign = await Countersign.connect({ address });
const session = await countersign.session(id);
const floor = async (workflow: FloorWorkflow): Promise<void> =>
  void (await runFloor(client, workflow, { eager: false }));

const samples = await interleave(
  [
    { name: 'bare workflow', run: () => floor('bare') },
    { name: 'workflow with one activity', run: () => floor('oneActivity') },
    { name: 'read 2 KB', run: async () => void (await read(session)) },
    { name: 'write', run: async () => void (await write(session)) },
  ],
  { rounds: Number(rounds), warmUp: 5, progress: (part) => console.log(`round ${part}`) },
);
console.log(JSON.stringify(Object.fromEntries(samples)));
await countersign.close();
await connection.close();
