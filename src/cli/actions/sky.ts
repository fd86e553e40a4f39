/** What corella sky does, loaded when it runs. */
import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { nothingToClose } from '../../core/closing.js';
import { instant, type Instant } from '../../core/instant.js';
import type { VoltageSource } from '../../core/sources.js';
import { openSimulated } from '../../live/index.js';
import { checkObservation } from '../../observation/index.js';
import { skyFrame } from '../../sky/frame.js';
import { perfectGains } from '../../sky/input-gains.js';
import { simulate } from '../../sky/simulate.js';
import { planSimulation } from '../../sky/simulation-plan.js';
import { selectStations } from '../../telescope/select.js';
import type { Telescope } from '../../telescope/telescope.js';
import { runLiveObservation } from '../live.js';
import { chooseSources, chooseTelescope } from '../options/sky-options.js';
import type { SkyOptions } from '../sky.js';

const STATIONS = 64;

const now = (): Instant => {
  const ms = Date.now();
  return { unixSeconds: Math.floor(ms / 1000), fraction: (ms % 1000) / 1000 };
};

export async function run(options: SkyOptions): Promise<void> {
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
      for: options.for,
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
