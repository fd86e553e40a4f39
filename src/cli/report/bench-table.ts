/** The table that corella bench prints while measuring: a column for each parameter that differs between the cases. */
import { percent } from '../../core/units.js';
import type { Backend } from '../../backend/backend.js';
import type { BenchCase, BenchRow, KernelCases } from '../../bench/index.js';
import { openTable } from './terminal.js';

export interface BenchTable {
  /** Parameters common to all cases, and the column headings. */
  readonly head: readonly string[];
  line(row: BenchRow): string;
  /** Short description of a case: its differences from the others. */
  describe(each: BenchCase): string;
}

/** Three digits, never as a power of ten. */
const figures = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

export function openBenchTable(
  { kernel, cases }: KernelCases,
  backend: Backend,
  { withRatio }: { readonly withRatio: boolean },
): BenchTable {
  const all = cases.map(({ parameters }) => parameters);
  const names = [...new Set(all.flatMap((parameters) => Object.keys(parameters)))];
  const textOf = (parameters: BenchCase['parameters'], name: string): string =>
    String(parameters[name] ?? '');
  const differs = (name: string): boolean => new Set(all.map((each) => textOf(each, name))).size > 1;
  const own = names.filter(differs);
  const words = (parameters: BenchCase['parameters'], some: readonly string[]): string =>
    some.map((name) => `${name} ${textOf(parameters, name)}`).join(', ');
  const shared = names.filter((name) => !differs(name));
  const unit = [...new Set(cases.map((each) => each.unit))].join(', ');
  const { head, line } = openTable([
    ...own.map((name) => ({ head: name, width: Math.max(...all.map((each) => textOf(each, name).length)) })),
    { head: unit, width: 8 },
    { head: '±', width: 5 },
    { head: 'of ceiling', width: 6 },
    ...(withRatio ? [{ head: 'ratio', width: 7 }] : []),
    { head: 'measured beside', width: 0 },
  ]);
  return {
    head: [
      '',
      [
        `${kernel} on ${backend.kind}${howOf(backend)}`,
        ...(all[0] && shared.length > 0 ? [words(all[0], shared)] : []),
      ].join(': '),
      ...head,
    ],
    line: (row) =>
      line([
        ...own.map((name) => textOf(row.parameters, name)),
        figures(row.median),
        percent(row.spread, 0),
        percent(row.fraction, 0),
        ...(withRatio ? [row.ratio === undefined ? '' : `${row.ratio.toFixed(1)} ×`] : []),
        [
          `${row.ceilingName}, ${figures(row.ceiling)}`,
          ...(row.peer === undefined ? [] : [`${row.peerName ?? 'a peer'}, ${figures(row.peer)}`]),
        ].join('; '),
      ]),
    describe: (each) => words(each.parameters, own.length > 0 ? own : names),
  };
}

function howOf(backend: Backend): string {
  switch (backend.kind) {
    case 'reference':
      return '';
    case 'cpu':
      return `, ${backend.isa}, ${backend.threads} thread${backend.threads === 1 ? '' : 's'}`;
    case 'cuda':
      return `, ${backend.path}`;
  }
}
