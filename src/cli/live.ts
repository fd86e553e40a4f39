/** corella live: samples or packets in, visibilities and pictures of the sky out, for as long as they come. */
import type { Command } from 'commander';
import { stoppable } from '../core/ending.js';
import type { Source } from '../core/sources.js';
import { phaseLossOf, type Front, type FrontSpectra } from '../pipeline/compose/front.js';
import type { CardChain } from '../pipeline/live/card-chain.js';
import { isLiveSpectra, type LiveSettings } from '../pipeline/live/chain.js';
import { frontOf } from '../pipeline/live/front.js';
import { openFiles } from '../pipeline/live/open-files.js';
import { runNight, spectrumRateOf, type NightProducts, type NightSummary } from '../pipeline/live/night.js';
import { rehearse } from '../pipeline/live/rehearse.js';
import { phaseLossLines } from '../pipeline/phase-loss.js';
import { prepareLiveCard } from '../pipeline/resident/live/card.js';
import { trackedCentre } from '../pipeline/tracking.js';
import { silentSource, type ReadyToListen } from '../receive/index.js';
import { selectStations } from '../telescope/select.js';
import type { Backend } from '../backend/backend.js';
import type { Telescope } from '../telescope/telescope.js';
import { narrowedInput, narrowedTo } from './live/band-option.js';
import { afterSeconds } from './live/long-timer.js';
import { joinMachines } from './live/machines.js';
import type { GivenOptions, LiveOptions } from './live/options.js';
import { openNightPage, steeringOf, type NightPage } from './live/page.js';
import { earlyCard } from './live/early-card.js';
import { openLiveInput, telescopeOf, type OpenedInput, type Say } from './live/input.js';
import { checkDisk, imagingOf, planFront, type Written } from './live/plans.js';
import { openPicture } from './live/picture.js';
import { watchLosses } from './live/losses.js';
import { tellOutcome } from './live/outcome.js';
import { integrationOf, refuseBeforehand, refuseIdlePage } from './live/refusals.js';
import { openReport, type Report } from './live/report.js';
import { leftoverLines } from './options/leftover-lines.js';
import { keptFrequenciesHz, requestedFlags } from './options/correlate-part.js';
import { levelsHistory } from './options/levels-options.js';
import { checkOutputs } from './options/outputs.js';
import { delayRequest } from './options/track-options.js';
import { withBackend } from './open.js';
import { kurtosisHistory, nightInterference } from './interference/kurtosis-lines.js';
import { kurtosisWork, type KurtosisWork } from './interference/kurtosis-options.js';
import { vanVleckWork, type VanVleckWork } from './interference/van-vleck-lines.js';
import { bandLines, bandOfChannels } from './report/band-lines.js';
import { askedLines } from './report/flag-lines.js';
import { history } from './report/history.js';

/** Latency at most a quarter of a second, whatever the cadence. */
const LONGEST_BLOCK_S = 0.25;
const SHORTEST_BLOCK_S = 0.005;

export async function run(origins: readonly string[], given: GivenOptions, command: Command): Promise<void> {
  const { channels, ...others } = given;
  const options: LiveOptions = {
    ...others,
    ...(typeof channels === 'number' && { channels }),
    ...(typeof channels === 'object' && { band: channels }),
  };
  await refuseBeforehand(origins, options, command);
  const vanVleck = vanVleckWork(options);
  const report = openReport(options);
  if (options.out !== undefined) {
    await checkOutputs({ ...options, paths: [options.out] });
    for (const line of await leftoverLines(options.out)) report.say(line);
  }
  const blockS = Math.max(SHORTEST_BLOCK_S, Math.min(LONGEST_BLOCK_S, options.image ?? 0.04));
  await withBackend(options, async (backend) => {
    const common = { backend, options, report, blockS, kurtosis: kurtosisWork(options), vanVleck };
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
  readonly vanVleck: VanVleckWork;
  /** Where it was prepared before the first packet. */
  readonly card?: CardChain;
  readonly page?: NightPage;
}

async function night(input: OpenedInput, given: Night): Promise<NightSummary> {
  const { backend, options, report, page, vanVleck } = given;
  let begun:
    { readonly live: LiveSettings; readonly spectrumRateHz: number; readonly bits?: number } | undefined;
  const summary = await runNight({
    input,
    ...(options.for === undefined ? {} : { forS: options.for }),
    onEvent: report.event,
    ...(page && { watcher: page.watcher }),
    prepare: async (source) => {
      const products = await prepareProducts(source, input, given);
      report.started(source, input.description, `${backend.kind}: ${backend.description}`);
      const { live } = products;
      begun = { live, spectrumRateHz: spectrumRateOf(source, live), bits: source.bits };
      return products;
    },
  });
  const taken = nightInterference(given.kurtosis, begun?.spectrumRateHz ?? 1);
  const { tally } = begun?.live.flags ?? {};
  report.summary(summary, input.packets?.(), {
    lines: [...taken.lines, ...(tally ? askedLines(tally) : []), ...vanVleck.lines(begun?.bits)],
    facts: {
      ...taken.facts,
      ...(tally && tally.rules > 0 && { flags: { values: tally.values, asked: tally.ruled } }),
      ...vanVleck.facts(),
    },
  });
  return summary;
}

const partOf = (whole: Telescope | undefined, { stations }: LiveOptions): Telescope | undefined =>
  whole && stations !== undefined ? selectStations(whole, stations) : whole;

interface Planned {
  readonly settings: LiveSettings;
  readonly spectra: FrontSpectra;
}

/** What shall become of samples like these. */
async function planned(source: Source, telescope: Telescope, given: Night, say: Say): Promise<Planned> {
  const { backend, options, kurtosis, vanVleck, blockS } = given;
  const { fineChannels, for: forS } = options;
  const front = { telescope, delays: await delayRequest(options, telescope), forS, fineChannels };
  const { channels, gain, spectra } = await planFront(source, options, front, blockS);
  const { frequenciesHz, polarisations } = spectra;
  const context = { stations: telescope.stations, polarisations, frequenciesHz };
  const { flaggedInputs, flags } = await requestedFlags(options, context);
  const settings: LiveSettings = {
    ...{ ...front, backend, channels, gain, frequenciesHz, flaggedInputs, flags },
    integrationS: integrationOf(options),
    align: options.align,
    imaging:
      options.image === undefined ? undefined : await imagingOf(options, telescope, frequenciesHz, say),
    ...{ ...kurtosis.asked, ...vanVleck.asked },
    values: options.values,
    integrations: options.out === undefined ? 'for nobody' : 'kept',
  };
  return { settings, spectra };
}

const writtenBy = ({ settings, spectra }: Planned, { options }: Night): Written => ({
  ...{ integrationS: settings.integrationS, stations: settings.telescope.stations.length },
  ...{
    polarisations: spectra.polarisations,
    channels: settings.flags?.channels?.length ?? spectra.channels,
  },
  ...(options.out === undefined ? {} : { out: options.out }),
  ...(options.for === undefined ? {} : { for: options.for }),
});

/** What can be refused is refused, and what takes long is done, before the first packet can be lost. */
async function beforeListening(
  ready: ReadyToListen,
  whole: Telescope | undefined,
  given: Night,
): Promise<CardChain | undefined> {
  const { options, report } = given;
  const silence = narrowedTo(silentSource(ready), options.band);
  const telescope = telescopeOf(silence, partOf(whole, options), `${ready.ring.stream.format} packets`);
  const plan = await planned(silence, telescope, given, () => undefined);
  await checkDisk(writtenBy(plan, given));
  // A card's chain takes all that the ring holds.
  const card = options.band ? undefined : await earlyCard(ready, plan.settings, report.say);
  if (!card) await rehearse(silence, plan.settings);
  return card;
}

/** Everything that must be known of the first samples. */
async function prepareProducts(source: Source, input: OpenedInput, given: Night): Promise<NightProducts> {
  const { backend, options, report, page, vanVleck } = given;
  const telescope = telescopeOf(source, partOf(input.telescope, options), input.description);
  const plan = await planned(source, telescope, given, report.say);
  const { settings, spectra } = plan;
  const { polarisations } = source;
  const { channelWidthHz, frequenciesHz } = spectra;
  const front = frontOf(source, settings);
  const notes = frontHistory(front, settings, options);
  for (const line of [
    ...bandLines(telescope, bandOfChannels(frequenciesHz)),
    ...phaseLossLines(phaseLossOf(front)),
    ...(options.direct === true && options.vanVleck === true
      ? ['--van-vleck corrects visibilities: direct images are as the rounding left them']
      : []),
  ])
    report.say(line);
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
    ...{ ...settings, ...(card && { card }) },
    ...(page && !card && { steering: steeringOf(settings), look: page.look }),
  };
  if (input.isLive) await checkDisk(writtenBy(plan, given));
  const files =
    options.out === undefined
      ? undefined
      : openFiles(
          {
            path: options.out,
            ...(options.fileEvery === undefined ? {} : { everyS: options.fileEvery }),
            values: options.values,
            // Every sample at the full scale of 8 bits.
            largestSum: 2 * 127 ** 2 * Math.ceil(live.integrationS * spectra.grid.spectrumRateHz + 1),
            overwrite: options.overwrite === true,
            centre: settings.delays && trackedCentre(settings.delays),
            header: {
              telescope,
              polarisations,
              frequenciesHz: settings.flags
                ? keptFrequenciesHz(settings.flags, frequenciesHz)
                : frequenciesHz,
              channelWidthHz,
              history: [
                ...history({ telescope }),
                `from ${input.description}`,
                ...notes,
                ...kurtosisHistory(given.kurtosis),
                ...vanVleck.history(source.bits),
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

/** What the files say of how their spectra were made. */
const frontHistory = (front: Front, { gain }: LiveSettings, options: LiveOptions): string[] => [
  ...(front.delays?.towards === undefined
    ? []
    : [`tracked: ${front.delays.towards}, unphased at the middle of each integration`]),
  ...phaseLossLines(phaseLossOf(front)),
  ...levelsHistory(
    gain?.levels && { ...gain.levels, from: 'given' },
    options,
    options.values === 'means' ? 'undone in the means' : 'not undone',
  ),
];
