/** Benchmarks: each kernel's rate relative to this machine's own ceiling and, on request, to a peer. */
import { beamsBench } from './beams.js';
import type { KernelBench } from './bench.js';
import { calibrateBench } from './calibrate.js';
import { fullCalibrateBench } from './calibrate-full.js';
import { channeliseBench } from './channelise.js';
import { correlateBench } from './correlate.js';
import { variantsBench } from './correlate-cuda.js';
import { integratedBench } from './correlate-integrated.js';
import { gridBench } from './grid.js';
import { cudaImageBench } from './image-cuda.js';
import { imageBench } from './image.js';
import { kurtosisBench } from './kurtosis.js';
import { receiveBench } from './receive.js';
import { seriesBench } from './series.js';
import { turnBench } from './tracking/turn.js';
import { wideBench } from './wide.js';

export { benchNames } from './names.js';
export { fileSizes, openFiles } from './commands/files.js';
export {
  COMMANDS,
  commandCases,
  measureCase,
  perData,
  type CommandCase,
  type CommandRow,
} from './commands/commands.js';
export { findPeers } from './commands/peers.js';
export { runCase, type BenchCase, type BenchRow } from './bench.js';
export { parseOnly, pickCases, type KernelCases } from './only.js';
export { openPeers } from './peers.js';
export { integratedBench, receiveBench };

/** The benchmark of a new kernel is one file and one line here. */
export const benches: readonly KernelBench[] = [
  correlateBench,
  channeliseBench,
  kurtosisBench,
  turnBench,
  beamsBench,
  calibrateBench,
  fullCalibrateBench,
  imageBench,
  gridBench,
  wideBench,
  seriesBench,
  receiveBench,
  integratedBench,
  variantsBench,
  cudaImageBench,
];
