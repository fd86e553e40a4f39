/** Every command, in the order of --help. A new command is one file and one line here. */
import type { RegisterCommand } from './command.js';
import { registerBench } from './bench.js';
import { registerChannelise } from './channelise.js';
import { registerSimulate } from './simulate.js';
import { registerDevices } from './devices.js';

export const commands: readonly RegisterCommand[] = [
  registerSimulate,
  registerChannelise,
  registerDevices,
  registerBench,
];
