/** `npm run bench`: what Countersign costs beside the least that Temporal can be asked to do, on this machine. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Progress } from './measure/progress.ts';
import { type Options, USAGE, parseOptions } from './options.ts';
import { machine } from './report/machine.ts';
import { drawPicture } from './report/picture.ts';
import { type Report, printTables } from './report/tables.ts';
import { PARTS } from './rows/index.ts';
import { openStage } from './stage/stage.ts';

// One for each folder and program that must not outlive an interrupted run.
process.setMaxListeners(50);

const options = readOptions();
const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then((): undefined => undefined);
const report = await Promise.race([run(options), interrupted]);
if (report === undefined) {
  console.error('\nInterrupted; nothing is kept.');
  process.exit(130);
}
if (options.json) console.log(JSON.stringify(report, null, 2));
else printTables(report);
if (options.picture !== undefined) await writeFile(options.picture, await drawPicture(report));
process.exit(report.parts.some(({ failed }) => failed !== undefined) ? 1 : 0);

function readOptions(): Options {
  const names = PARTS.map(({ name }) => name);
  try {
    const parsed = parseOptions(process.argv.slice(2), names);
    if (parsed !== 'help') return parsed;
    console.log(USAGE.replace('%PARTS%', names.join(', ')));
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

async function run({ soak, only }: Options): Promise<Report> {
  const parts = PARTS.filter(({ name }) => only === undefined || only.includes(name));
  const seconds = ({ seconds: usual, soakSeconds }: (typeof PARTS)[number]): number =>
    soak ? (soakSeconds ?? usual) : usual;
  const progress = new Progress([
    { name: 'start', seconds: 6 },
    ...parts.map((part) => ({ name: part.name, seconds: seconds(part) })),
  ]);
  progress.begin('start');
  const report: Report = { machine: await machine(), soak, parts: [], took: 0 };
  const since = performance.now();
  await using stage = await openStage();
  progress.end();
  for (const part of parts) {
    progress.begin(part.name);
    try {
      report.parts.push({ name: part.name, title: part.title, ...(await part.run({ stage, soak, progress })) });
    } catch (error) {
      // The other rows are still worth having.
      const failed = error instanceof Error ? error.message : String(error);
      progress.say(`${part.name} failed: ${failed}`);
      report.parts.push({ name: part.name, title: part.title, rows: [], failed });
    }
    progress.end();
  }
  progress.finish();
  report.took = Math.round((performance.now() - since) / 1_000);
  return report;
}
