/** The kernels' rates, measured once for all figures that use them. */
import type { Backend } from '../backend/backend.js';
import { benches, runCase, type BenchCase, type BenchRow } from '../bench/index.js';
import type { Rig } from './figure.js';

const measured = new WeakMap<Backend, Promise<readonly BenchRow[]>>();

/** The kernels of the five main operations; others have their own benchmarks. */
const kernels = [
  'correlate',
  'correlate-integrated',
  'channelise',
  'calibrate',
  'image',
  'direct-image-card',
];

export function rates(rig: Rig): Promise<readonly BenchRow[]> {
  const known = measured.get(rig.backend);
  if (known) return known;
  const rows = measureAll(rig);
  measured.set(rig.backend, rows);
  return rows;
}

async function measureAll({ backend, quick }: Rig): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const { kernel, cases } of benches.filter(({ kernel: name }) => kernels.includes(name))) {
    const chosen = quick ? fewOf(cases(backend)) : cases(backend);
    for (const one of chosen) {
      // A turn must be long relative to the machine's noise; a quick run may be off by some per cent.
      const options = quick ? { rounds: 3, secondsPerTurn: 0.01 } : { rounds: 5, secondsPerTurn: 0.03 };
      rows.push(await runCase(kernel, backend, one, undefined, options));
    }
  }
  return rows;
}

/** The first cases of each kernel are the default sizes. */
const fewOf = (cases: readonly BenchCase[]): readonly BenchCase[] => cases.slice(0, 3);
