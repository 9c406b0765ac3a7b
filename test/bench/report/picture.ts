/** The main rows as one SVG: how long calls take beside their floors, and how many there are a second. */
import { View, parse } from 'vega';
import { type TopLevelSpec, compile } from 'vega-lite';
import type { Report } from './tables.ts';

/** One of the drawings side by side. */
type Chart = Extract<TopLevelSpec, { hconcat: unknown }>['hconcat'][number];

const GROUPS = ['stock server', 'Temporal alone', 'Countersign'] as const;
const COLOURS = ['#b8bec9', '#5b7db1', '#d9822b'] as const;

/** Latency rows from the quickest to the slowest; what waits for somebody has its own time scale and is left to the table. */
const SHOWN: Record<string, (typeof GROUPS)[number]> = {
  'bare workflow': 'Temporal alone',
  'workflow with one local activity': 'Temporal alone',
  'read 2 KB': 'Countersign',
  'workflow with one activity': 'Temporal alone',
  write: 'Countersign',
  'shell true': 'Countersign',
  'bare workflow, stock server': 'stock server',
  'workflow with one activity, stock server': 'stock server',
};

export async function drawPicture(report: Report): Promise<string> {
  const rowsOf = (part: string) => report.parts.find(({ name }) => name === part)?.rows ?? [];
  const latency = Object.entries(SHOWN).flatMap(([name, group]) => {
    const row = rowsOf('latency').find((found) => found.name === name);
    return row ? [{ name: short(name), group, p50: row.p50, p95: row.p95 }] : [];
  });
  const rates = rowsOf('throughput').map(({ name, p50 }) => {
    const [kind = '', callers = ''] = name.split(', ');
    return { kind: short(kind), callers, rate: p50, group: SHOWN[kind] ?? 'Countersign' };
  });
  const { cpu, cores, date } = report.machine;
  const spec: TopLevelSpec = {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: '#ffffff',
    padding: 16,
    title: {
      text: 'One tool call, beside the least that Temporal can be asked to do',
      subtitle: `${cores} × ${cpu}, ${date}`,
      anchor: 'start',
    },
    config: { font: 'system-ui, sans-serif', view: { stroke: null }, axis: { grid: false, labelLimit: 300 } },
    resolve: { scale: { color: 'shared' } },
    hconcat: [latencyChart(latency), ratesChart(rates)],
  };
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  return `${await view.toSVG()}\n`;
}

const short = (name: string): string => name.replace('workflow with one', 'one');

const colour = {
  field: 'group',
  type: 'nominal' as const,
  title: null,
  scale: { domain: [...GROUPS], range: [...COLOURS] },
  legend: { orient: 'bottom' as const },
};

function latencyChart(values: { name: string; group: string; p50: number; p95: number }[]): Chart {
  const y = { field: 'name', type: 'nominal', sort: null, title: null } as const;
  return {
    title: { text: 'milliseconds: bar p50, line to p95', fontWeight: 'normal' },
    width: 360,
    height: { step: 30 },
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: 18 },
        encoding: { y, x: { field: 'p50', type: 'quantitative', title: null }, color: colour },
      },
      {
        mark: { type: 'rule', stroke: '#444' },
        encoding: { y, x: { field: 'p50', type: 'quantitative' }, x2: { field: 'p95' } },
      },
      {
        mark: { type: 'text', align: 'left', dx: 4, dy: -7, fontSize: 10 },
        encoding: {
          y,
          x: { field: 'p50', type: 'quantitative' },
          text: { field: 'p50', type: 'quantitative', format: '.0f' },
        },
      },
    ],
  };
}

function ratesChart(values: { kind: string; callers: string; rate: number; group: string }[]): Chart {
  return {
    title: { text: 'calls a second', fontWeight: 'normal' },
    width: { step: 26 },
    height: 200,
    data: { values },
    mark: 'bar',
    encoding: {
      column: {
        field: 'callers',
        type: 'nominal',
        sort: ['1 caller', '20 callers', '100 callers'],
        title: null,
        header: { labelOrient: 'bottom' },
      },
      x: { field: 'kind', type: 'nominal', sort: null, title: null, axis: { labelAngle: -40 } },
      y: { field: 'rate', type: 'quantitative', title: null },
      color: colour,
    },
  };
}
