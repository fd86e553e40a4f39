/** corella sky: a simulated live sky on the page, in one process. */
import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { nothingToClose } from '../core/closing.js';
import { instant, type Instant } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { again, field, real } from '../fields/index.js';
import { openSimulated } from '../live/index.js';
import { checkObservation, front, observation, pageFields } from '../observation/index.js';
import { skyFrame } from '../sky/frame.js';
import { perfectGains } from '../sky/input-gains.js';
import { simulate } from '../sky/simulate.js';
import { planSimulation } from '../sky/simulation-plan.js';
import { selectStations } from '../telescope/select.js';
import type { Telescope } from '../telescope/telescope.js';
import { runLiveObservation } from './live.js';
import { useEop } from './options/eop-option.js';
import { addFields, type Options } from './options/own.js';
import * as shared from './options/shared.js';
import { chooseSources, chooseTelescope, prepareSources } from './options/sky-options.js';
import { addHelp } from './startup/help.js';

const skyOptions = z.strictObject({
  telescope: shared.skyTelescope,
  stations: again(shared.stations, { otherwise: '64, or all of a smaller telescope' }),
  sources: shared.sources,
  losses: field(real, {
    flag: '--losses <percent>',
    changes: 'never',
    range: { least: 0, most: 100 },
    default: 0,
    help: 'lose this much of the data, in percent; the page can change it',
  }),
  unknownGains: field(shared.given, {
    flag: '--unknown-gains',
    changes: 'never',
    help: 'antennas with unknown gains and cable delays, to be solved on the page',
  }),
  rate: again(shared.rate, { default: 20_000 }),
  channels: again(front.shape.channels, { default: 4 }),
  pixels: again(shared.pixels, { default: 128 }),
  noise: shared.noise,
  for: again(observation.shape.for, { otherwise: 'until Ctrl-C', group: 'Options' }),
  page: again(shared.pageAddress, { otherwise: '127.0.0.1:8080, or a free port' }),
  tokenFile: again(pageFields.shape['token-file'], { group: 'Options' }),
  open: field(shared.given, {
    flag: '--open',
    changes: 'never',
    help: 'open the page in the browser',
  }),
  seed: shared.seed,
  ...shared.computing,
  ...shared.skyFiles,
});
type SkyOptions = Options<typeof skyOptions>;

export function registerSky(program: Command): void {
  const command = useEop(prepareSources(addFields(program.command('sky'), skyOptions))).action(run);
  addHelp(command, {
    common: [
      '--open',
      '--telescope',
      '--stations',
      '--sources',
      '--losses',
      '--unknown-gains',
      '--for',
      '--page',
    ],
    examples: [
      ['sky --open', 'the sky over a small LWA-SV now, in the browser'],
      ['sky --telescope eda2 --stations 128', 'over half of EDA2'],
      ['sky --stations 5', 'the fringes of five antennas'],
      ['sky --unknown-gains --losses 5', 'something to calibrate, with losses'],
    ],
  });
}

const STATIONS = 64;

const now = (): Instant => {
  const ms = Date.now();
  return { unixSeconds: Math.floor(ms / 1000), fraction: (ms % 1000) / 1000 };
};

async function run(options: SkyOptions): Promise<void> {
  const whole = await chooseTelescope(options);
  const telescope =
    options.stations === undefined ? selectStations(whole, Math.min(STATIONS, whole.stations.length)) : whole;
  const asked = checkObservation(
    {
      corella: 1,
      source: { stream: 'a simulated sky' },
      telescope: options.telescope,
      stations: telescope.stations.length,
      front: { channels: options.channels },
      products: [{ images: null, every: 1, pixels: options.pixels, sources: options.sources }],
      page: {
        ...(typeof options.page === 'string' && { address: options.page }),
        ...(options.tokenFile !== undefined && { 'token-file': options.tokenFile }),
      },
      machine: { backend: options.backend, threads: options.threads },
      ...(options.for !== undefined && { for: options.for }),
    },
    'sky',
  );
  await runLiveObservation(asked, {
    ...options,
    openInput: ({ say }) =>
      Promise.resolve(
        openSimulated({
          telescope,
          now,
          say,
          seed: options.seed,
          from: (start) => sourceOf(telescope, start, options),
          wait: (seconds) => setTimeout(1000 * seconds),
          losses: { percent: options.losses, silent: [] },
        }),
      ),
    onPage: ({ steerUrl }) => {
      if (options.open === true) openBrowser(steerUrl);
    },
  });
}

/** The longest possible run; the simulation makes one chunk at a time. */
const FOREVER_S = 30 * 86_400;

function sourceOf(telescope: Telescope, start: Instant, options: SkyOptions): VoltageSource {
  const sampleRateHz = options.rate;
  const plan = planSimulation({
    telescope,
    sampleRateHz,
    type: 'ci8',
    systemFluxJy: options.noise,
    seed: options.seed,
    start: instant(start.unixSeconds),
    samples: Math.round(FOREVER_S * sampleRateHz),
    centreFrequencyHz: telescope.recording.centreFrequencyHz,
    sources: chooseSources(options.sources, skyFrame(telescope.site, start)),
    gains: options.unknownGains === true ? {} : perfectGains,
    interferers: [],
    dropFraction: 0,
  });
  return {
    kind: 'voltages',
    type: plan.type,
    inputs: plan.inputs,
    polarisations: plan.polarisations,
    sampleRateHz,
    centreFrequencyHz: plan.centreFrequencyHz,
    start: plan.start,
    // One thread: the others are for the correlator and the images.
    blocks: (blockSamples) => simulate(plan, blockSamples, { threads: 1 }),
    close: nothingToClose,
  };
}

/** Opens the desktop's browser; the address is printed in any case. */
function openBrowser(url: string): void {
  const [program, ...words] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', url]
        : ['xdg-open', url];
  const child = spawn(program, words, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
