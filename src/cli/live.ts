/** corella live: samples or packets in, visibilities and pictures of the sky out, for as long as they come. */
import type { Command } from 'commander';
import { stoppable } from '../core/ending.js';
import { refuse } from '../core/errors.js';
import type { Source } from '../core/sources.js';
import { channelsOf } from '../pipeline/channels.js';
import type { CardChain } from '../pipeline/live/card-chain.js';
import { isLiveSpectra, type LiveSettings } from '../pipeline/live/chain.js';
import { openFiles } from '../pipeline/live/open-files.js';
import { runNight, spectrumRateOf, type NightProducts, type NightSummary } from '../pipeline/live/night.js';
import { rehearse } from '../pipeline/live/rehearse.js';
import { prepareLiveCard } from '../pipeline/resident/live/card.js';
import { silentSource, type ReadyToListen } from '../receive/index.js';
import { selectStations } from '../telescope/select.js';
import type { Backend } from '../backend/backend.js';
import type { Telescope } from '../telescope/telescope.js';
import { narrowedInput, narrowedTo } from './live/band-option.js';
import { afterSeconds } from './live/long-timer.js';
import { joinMachines } from './live/machines.js';
import { addLiveOptions, type GivenOptions, type LiveOptions } from './live/options.js';
import { openNightPage, steeringOf, type NightPage } from './live/page.js';
import { earlyCard, type LiveShape } from './live/early-card.js';
import { openLiveInput, telescopeOf, type OpenedInput } from './live/input.js';
import { checkDisk, imagingOf, planOf, type Written } from './live/plans.js';
import { openPicture } from './live/picture.js';
import { watchLosses } from './live/losses.js';
import { tellOutcome } from './live/outcome.js';
import { integrationOf, refuseBeforehand, refuseIdlePage } from './live/refusals.js';
import { openReport, type Report } from './live/report.js';
import { leftoverLines } from './options/leftover-lines.js';
import { parseFlags } from './options/flags.js';
import { checkOutputs } from './options/outputs.js';
import { withBackend } from './open.js';
import { kurtosisHistory, nightInterference } from './interference/kurtosis-lines.js';
import { kurtosisWork, type KurtosisWork } from './interference/kurtosis-options.js';
import { bandLines, bandOfChannels } from './report/band-lines.js';
import { history } from './report/history.js';

export const registerLive = (program: Command): void => {
  addLiveOptions(program.command('live')).action(run);
};

/** Latency at most a quarter of a second, whatever the cadence. */
const LONGEST_BLOCK_S = 0.25;
const SHORTEST_BLOCK_S = 0.005;

async function run(origins: readonly string[], given: GivenOptions, command: Command): Promise<void> {
  const { channels, ...others } = given;
  const options: LiveOptions = {
    ...others,
    ...(typeof channels === 'number' && { channels }),
    ...(typeof channels === 'object' && { band: channels }),
  };
  await refuseBeforehand(origins, options, command);
  const report = openReport(options);
  if (options.out !== undefined) {
    await checkOutputs({ ...options, paths: [options.out] });
    for (const line of await leftoverLines(options.out)) report.say(line);
  }
  const blockS = Math.max(SHORTEST_BLOCK_S, Math.min(LONGEST_BLOCK_S, options.image ?? 0.04));
  await withBackend(options, async (backend) => {
    const common = { backend, options, report, blockS, kurtosis: kurtosisWork(options) };
    const early: { card?: CardChain } = {};
    const opened = await openLiveInput(
      origins,
      { ...options, blockS },
      report.say,
      async (ready, telescope) => {
        const card = await beforeListening(ready, telescope, common);
        if (card) early.card = card;
      },
    );
    const input = narrowedInput(opened, options.band);
    // While nothing has come a signal ends the program as any other.
    const stop = stoppable('live');
    try {
      if (!input.isLive) refuseIdlePage(options, command);
      let isStopped = false;
      const end = (): void => {
        report.say('stopping: what has come is worked through');
        input.stop();
      };
      const stopIt = (): void => {
        isStopped = true;
        end();
      };
      stop.signal.addEventListener('abort', stopIt, { once: true });
      const callOff = options.for !== undefined && input.isLive ? afterSeconds(options.for, end) : undefined;
      const page = await openNightPage(input, { options, backend, stop: stopIt, say: report.say });
      const machines = await joinMachines(options, page, report.say);
      const watched = watchLosses(input, report.say);
      try {
        const summary = await night(page?.input ?? input, { ...common, ...early, ...(page && { page }) });
        tellOutcome(summary, options, isStopped, report.say);
      } finally {
        callOff?.();
        watched();
        await machines?.close();
        await page?.close();
      }
    } finally {
      await input.close();
      stop.release();
    }
  });
}

interface Night {
  readonly backend: Backend;
  readonly options: LiveOptions;
  readonly report: Report;
  readonly blockS: number;
  readonly kurtosis: KurtosisWork;
  /** Where it was prepared before the first packet. */
  readonly card?: CardChain;
  readonly page?: NightPage;
}

async function night(input: OpenedInput, given: Night): Promise<NightSummary> {
  const { backend, options, report, page } = given;
  let spectrumRateHz = 1;
  const summary = await runNight({
    input,
    ...(options.for === undefined ? {} : { forS: options.for }),
    onEvent: report.event,
    ...(page && { watcher: page.watcher }),
    prepare: async (source) => {
      const products = await prepareProducts(source, input, given);
      report.started(source, input.description, `${backend.kind}: ${backend.description}`);
      spectrumRateHz = spectrumRateOf(source, products.live);
      return products;
    },
  });
  report.summary(summary, input.packets?.(), nightInterference(given.kurtosis, spectrumRateHz));
  return summary;
}

const partOf = (whole: Telescope | undefined, { stations }: LiveOptions): Telescope | undefined =>
  whole && stations !== undefined ? selectStations(whole, stations) : whole;

/** What shall become of samples of this shape. */
async function settingsOf(
  shape: LiveShape,
  telescope: Telescope,
  { backend, options, kurtosis }: Night,
): Promise<LiveSettings> {
  const { frequenciesHz } = shape;
  const imaging =
    options.image === undefined ? undefined : await imagingOf(options, telescope, frequenciesHz);
  return {
    backend,
    telescope,
    frequenciesHz,
    integrationS: integrationOf(options),
    align: options.align,
    flaggedInputs: parseFlags(options.flag, shape.inputs, shape.polarisations, telescope),
    ...(imaging && { imaging }),
    ...kurtosis.asked,
    values: options.values,
    integrations: options.out === undefined ? 'for nobody' : 'kept',
  };
}

const writtenBy = (
  { integrationS, telescope }: LiveSettings,
  shape: Pick<Written, 'channels' | 'polarisations'>,
  { options }: Night,
): Written => ({
  ...{ ...shape, integrationS, stations: telescope.stations.length },
  ...(options.out === undefined ? {} : { out: options.out }),
  ...(options.for === undefined ? {} : { for: options.for }),
});

/** What can be refused is refused, and what takes long is done, before the first packet can be lost. */
async function beforeListening(
  ready: ReadyToListen,
  whole: Telescope | undefined,
  given: Night,
): Promise<CardChain | undefined> {
  const { options, blockS } = given;
  const silence = narrowedTo(silentSource(ready), options.band);
  const telescope = telescopeOf(silence, partOf(whole, options), `${ready.ring.stream.format} packets`);
  const channels = await planOf(silence, telescope, { ...options, blockS });
  const { frequenciesHz } =
    silence.kind === 'spectra' ? silence : channelsOf(silence, channels ?? refuse('live', 'no channels'));
  const { inputs, polarisations } = silence;
  const settings = await settingsOf({ inputs, polarisations, frequenciesHz }, telescope, given);
  await checkDisk(writtenBy(settings, { channels: frequenciesHz.length, polarisations }, given));
  // A card's chain takes all that the ring holds.
  const card = options.band
    ? undefined
    : await earlyCard(ready, telescope, {
        ...given,
        settingsOf: (shape, whose) => settingsOf(shape, whose, given),
      });
  if (!card) await rehearse(silence, { ...settings, ...(channels && { channels }) });
  return card;
}

/** Everything that must be known of the first samples. */
async function prepareProducts(source: Source, input: OpenedInput, given: Night): Promise<NightProducts> {
  const { backend, options, report, blockS, page } = given;
  const telescope = telescopeOf(source, partOf(input.telescope, options), input.description);
  const channels = await planOf(source, telescope, { ...options, blockS });
  const { frequenciesHz, channelWidthHz } =
    source.kind === 'spectra' ? source : channelsOf(source, channels ?? refuse('live', 'no channels'));
  const { inputs, polarisations } = source;
  const settings = await settingsOf({ inputs, polarisations, frequenciesHz }, telescope, given);
  for (const line of bandLines(telescope, bandOfChannels(frequenciesHz))) report.say(line);
  const card =
    given.card ??
    (backend.kind === 'cuda' && isLiveSpectra(source)
      ? await prepareLiveCard({
          ...{ ...settings, backend, polarisations },
          ...{ ring: source.ring, about: source.start, say: report.say },
        })
      : undefined);
  const { imaging } = settings;
  const live: LiveSettings = {
    ...{ ...settings, ...(channels && { channels }), ...(card && { card }) },
    ...(page && !card && { steering: steeringOf(settings), look: page.look }),
  };
  if (input.isLive)
    await checkDisk(writtenBy(settings, { channels: frequenciesHz.length, polarisations }, given));
  const files =
    options.out === undefined
      ? undefined
      : openFiles(
          {
            path: options.out,
            ...(options.fileEvery === undefined ? {} : { everyS: options.fileEvery }),
            values: options.values,
            // Every sample at the full scale of 8 bits.
            largestSum: 2 * 127 ** 2 * Math.ceil(live.integrationS * spectrumRateOf(source, live) + 1),
            overwrite: options.overwrite === true,
            header: {
              telescope,
              polarisations: source.polarisations,
              frequenciesHz,
              channelWidthHz,
              history: [
                ...history({ telescope }),
                `from ${input.description}`,
                ...kurtosisHistory(given.kurtosis),
              ],
            },
            ...(options.eop === undefined ? {} : { eop: options.eop }),
          },
          (event) => {
            report.file(event);
            page?.file(event);
          },
          // A card is not kept waiting by a disk.
          card ? 'own thread' : 'this thread',
        );
  const picture = imaging && openPicture(options, telescope, channelWidthHz, report.say);
  page?.begin(source, {
    ...{ live, channelWidthHz, sources: options.sources, picture: options.picture },
    ...(files && { files }),
  });
  return { live, ...(files && { files }), ...(picture && { picture }) };
}
