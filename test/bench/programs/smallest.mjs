// The smallest program that loads Temporal's client and makes one request. Argument: address.
import { Client, Connection } from '@temporalio/client';

const connection = await Connection.connect({ address: process.argv[2] });
const client = new Client({ connection });
const { count } = await client.workflow.count('ExecutionStatus="Running"');
process.stdout.write(`${count}\n`, () => process.exit(0));
