/** Every command, in the order of --help. A new command is one file and one line here. */
import { registerBench } from './bench.js';
import { registerCalibrate } from './calibrate.js';
import { registerChannelise } from './channelise.js';
import type { RegisterCommand } from './command.js';
import { registerConvert } from './convert.js';
import { registerCorrelate } from './correlate.js';
import { registerDemo } from './demo.js';
import { registerDevices } from './devices.js';
import { registerImage } from './image.js';
import { registerInspect } from './inspect.js';
import { registerPlan } from './plan.js';
import { registerSimulate } from './simulate.js';

export const commands: readonly RegisterCommand[] = [
  registerDemo,
  registerSimulate,
  registerChannelise,
  registerCorrelate,
  registerCalibrate,
  registerImage,
  registerInspect,
  registerConvert,
  registerPlan,
  registerBench,
  registerDevices,
];
