/** The report as people read it. */
import { styleText } from 'node:util';
import type { Machine } from './machine.ts';
import { type Found, type Row, type Target, holds } from '../rows/row.ts';

export interface Report {
  machine: Machine;
  soak: boolean;
  parts: (Found & { name: string; title: string; failed?: string })[];
  /** Seconds. */
  took: number;
}

export function printTables({ machine, parts, took }: Report): void {
  const { cores, cpu, memoryGB, node, temporal, date, loadBefore } = machine;
  console.log(
    `${date} · ${cores} × ${cpu}, ${memoryGB} GB · Node ${node} · ${temporal} · load before ${loadBefore} · ${took} s`,
  );
  for (const { title, rows, failed } of parts) {
    console.log(`\n${styleText('bold', title)}`);
    if (failed !== undefined) console.log(`  failed: ${failed}`);
    printTable(['', 'p50', 'p95', '', 'events', 'ratio', ''], rows.map(rowCells));
  }
  const targets = parts.flatMap((part) => part.targets ?? []);
  if (targets.length === 0) return;
  console.log(`\n${styleText('bold', 'Reach')}`);
  printTable(['', 'measured', 'target', ''], targets.map(targetCells));
}

function rowCells({ name, unit, p50, p95, events, ratio, note = '' }: Row): string[] {
  return [
    name,
    figure(p50),
    figure(p95),
    unit,
    String(events ?? ''),
    ratio === undefined ? '' : `${ratio.value.toFixed(2)} × ${ratio.of}`,
    note,
  ];
}

function targetCells(target: Target): string[] {
  const { what, limit, measured } = target;
  return [
    what,
    `${figure(measured)} ${limit.unit}`,
    `${limit.at === 'most' ? '≤' : '≥'} ${limit.value} ${limit.unit}`,
    holds(target) ? '✓' : '✗',
  ];
}

const figure = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);

/** The first column to the left, figures to the right, ratio and note to the left. */
function printTable(head: string[], rows: string[][]): void {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  for (const row of all) {
    const cells = row.map((cell, column) =>
      (/^-?[\d.]/.test(cell) && !cell.includes('×')) || (row === head && column > 0)
        ? cell.padStart(widths[column] ?? 0)
        : cell.padEnd(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('  ')}`.trimEnd());
  }
}
