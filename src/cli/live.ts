/** corella live: samples or packets in, visibilities and pictures of the sky out, for as long as they come. */
import type { Command } from 'commander';
import { stoppable } from '../core/ending.js';
import { refuse } from '../core/errors.js';
import type { Source } from '../core/sources.js';
import type { StoredValues } from '../formats/index.js';
import { channelsOf } from '../pipeline/channels.js';
import type { CardChain } from '../pipeline/live/card-chain.js';
import { isLiveSpectra, type LiveSettings } from '../pipeline/live/chain.js';
import { openFiles } from '../pipeline/live/open-files.js';
import { runNight, spectrumRateOf, type NightProducts } from '../pipeline/live/night.js';
import { rehearse } from '../pipeline/live/rehearse.js';
import { prepareLiveCard } from '../pipeline/resident/live/card.js';
import type { ChannelRange } from '../pipeline/stages/select-channels.js';
import { silentSource, type ReadyToListen } from '../receive/index.js';
import { selectStations } from '../telescope/select.js';
import type { Backend } from '../backend/backend.js';
import type { Telescope } from '../telescope/telescope.js';
import { parseKernel, parseWeight } from './image.js';
import { parseAlign, parseValues } from './correlate.js';
import { narrowedInput, narrowedTo, takeRangesToo, type GivenChannels } from './live/band-option.js';
import { addMachineOptions, joinMachines, type MachineOptions } from './live/machines.js';
import { addPageOptions, openNightPage, steeringOf, type NightPage, type PageOptions } from './live/page.js';
import { parseStreamType, streamTypes } from './live/stream-type.js';
import { earlyCard, type LiveShape } from './live/early-card.js';
import { openLiveInput, telescopeOf, type InputOptions, type OpenedInput } from './live/input.js';
import { checkDisk, imagingOf, planOf, type ImagingOptions, type Written } from './live/plans.js';
import { openPicture } from './live/picture.js';
import { openReport, type Report } from './live/report.js';
import { leftoverLines } from './options/leftover-lines.js';
import { addChannelOptions, type ChannelOptions } from './options/channel-options.js';
import { addBackendOptions, addExamples, parseCount, type BackendOptions } from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { addFlagOption, parseFlags, type FlagOptions } from './options/flags.js';
import { addOverwriteOption, checkOutputs, checkPngName, type OutputOptions } from './options/outputs.js';
import { duration, frequency, plainNumber } from './options/quantity.js';
import { addSourceOption, telescopeWords } from './options/sky-options.js';
import { withBackend } from './open.js';
import { kurtosisHistory, nightInterference } from './interference/kurtosis-lines.js';
import {
  addKurtosisOptions,
  kurtosisWork,
  type KurtosisOptions,
  type KurtosisWork,
} from './interference/kurtosis-options.js';
import { history } from './report/history.js';

interface GivenOptions extends Omit<LiveOptions, 'channels' | 'band'> {
  readonly channels?: GivenChannels;
}

interface LiveOptions
  extends
    BackendOptions,
    ChannelOptions,
    MachineOptions,
    FlagOptions,
    KurtosisOptions,
    OutputOptions,
    InputOptions,
    ImagingOptions,
    PageOptions {
  /** Of what comes, the part that this machine works on. */
  readonly band?: ChannelRange;
  readonly out?: string;
  readonly integration?: number;
  readonly align: 'first-sample' | 'utc';
  readonly values: StoredValues;
  readonly fileEvery?: number;
  readonly picture: string;
  readonly sources: string;
  readonly for?: number;
  readonly stations?: number;
  readonly eop?: string;
}

export function registerLive(program: Command): void {
  const command = program
    .command('live')
    .description('samples or packets as they come → visibilities, pictures of the sky')
    .argument(
      '[from...]',
      '- for standard input, tcp://host:port, or a recording; several streams side by side',
    )
    .option('--from <capture>', 'packets of a capture (pcap), as fast as they are worked through')
    .option('--listen <port>', 'packets as they come: 4015, or a group to join, 239.1.2.3:4015')
    .option('--interface <name>', 'by which a group is joined, like eth0')
    .option('--format <name>', 'of the packets (default: by what they look like)')
    .option(
      '--epoch <utc>',
      "when the senders' tick 0 was, where packets do not tell: a time; clock; or TIME,clock after a restart",
    )
    .option('--for <time>', 'ends after so long, like 60s or 8h (default: never)', duration('--for'));
  command
    .optionsGroup('Visibilities:')
    .option('-o, --out <path>', 'visibilities to write, .uvfits or .uvh5 (default: none)')
    .option(
      '--integration <time>',
      'length of each (default: 1s, or that of an image)',
      duration('--integration'),
    )
    .option(
      '--align <clock>',
      'utc: integrations and images end on its boundaries; first-sample',
      parseAlign,
      'utc',
    )
    .option(
      '--values <kind>',
      'means, or sums: whole numbers bit for bit (.uvh5 alone)',
      parseValues,
      'means',
    )
    .option(
      '--file-every <time>',
      'a new file so often, with its start in its name (default: one)',
      duration('--file-every'),
    );
  command
    .optionsGroup('Pictures:')
    .option('--image <time>', 'an image so often, like 100ms (default: none)', duration('--image'))
    .option('--picture <path>', 'the latest image, replaced by every new one', 'live.png')
    .option('--direct', 'image the spectra themselves, without visibilities (EPIC)')
    .option('--gains <path>', 'calibrate images with these, from corella calibrate (default: none)')
    .option(
      '--pixels <number>',
      'along each side (default: 128, or more where the array needs more)',
      parseCount,
    )
    .option(
      '--field <degrees>',
      'width of the field around the zenith (default: the whole sky)',
      plainNumber('--field'),
    )
    .option('--kernel <size>', 'cells under each antenna: 1, 3, 5 or 7', parseKernel, 5)
    .option('--weight <name>', 'natural: deepest; uniform: sharpest', parseWeight, 'natural');
  addSourceOption(command, 'names to write on the picture');
  command
    .optionsGroup('What comes, where it does not say:')
    .option('--telescope <name>', `where the stations stand: ${telescopeWords()}`)
    .option('--stations <number>', 'only so many of its stations, spread evenly over the list', parseCount)
    .option('--meta <path>', 'a .sigmf-meta that describes the samples of a stream')
    .option('--sample-type <type>', `of a stream: ${streamTypes.join(', ')}`, parseStreamType)
    .option('--inputs <number>', 'interleaved in each stream', parseCount)
    .option('--polarisations <number>', 'inputs a station, 1 or 2', parseCount)
    .option('--rate <hz>', 'samples per second, like 2.4MHz', frequency('--rate'))
    .option('--frequency <hz>', "the band's middle, like 58MHz", frequency('--frequency'))
    .option('--start <utc>', 'of the first sample of a stream (default: when it comes)')
    .action(run);
  addPageOptions(command);
  addMachineOptions(command);
  addFlagOption(command);
  addOverwriteOption(command);
  takeRangesToo(addChannelOptions(command));
  addKurtosisOptions(command);
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    [
      'live --listen 4015 --telescope lwasv --image 1s',
      'packets of any format we know, a picture every second',
    ],
    [
      'live --listen 239.1.2.3:4015 --interface eth1 --telescope lwasv -o night.uvh5 --file-every 10min',
      'a night',
    ],
    [
      'live --listen 239.1.2.3:4015 --telescope lwasv --channels 0-65 -o low.uvh5 --server nats://head:4222 --machine low',
      'half the band on this machine, seen and steered with the other',
    ],
    [
      'live --from capture.pcap --telescope lwasv -o v.uvh5 --values sums',
      'a capture, the same bits as live',
    ],
    [
      'live - --sample-type cu8 --inputs 2 --rate 2.4MHz --frequency 1420MHz --telescope two.json --channels 64 -o v.uvh5',
      'two dongles, interleaved, from a pipe',
    ],
    [
      'live tcp://a:1234 tcp://b:1234 --sample-type cu8 --inputs 1 --rate 2.4MHz --frequency 1420MHz --telescope two.json --channels 64',
      'two rtl_tcp servers',
    ],
  ]);
}

/** Latency at most a quarter of a second, whatever the cadence. */
const LONGEST_BLOCK_S = 0.25;
const SHORTEST_BLOCK_S = 0.005;

async function run(origins: readonly string[], given: GivenOptions): Promise<void> {
  const { channels, ...others } = given;
  const options: LiveOptions = {
    ...others,
    ...(typeof channels === 'number' && { channels }),
    ...(typeof channels === 'object' && { band: channels }),
  };
  if (options.image !== undefined) checkPngName('--picture', options.picture);
  if (options.out === undefined && options.image === undefined)
    refuse('live', 'nothing is asked for', 'give -o for visibilities, --image for pictures, or both');
  if (options.sources.includes('@'))
    refuse('--sources', 'places by altitude and azimuth move with the sky', 'give RA and Dec');
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
      const end = (): void => {
        report.say('stopping: what has come is worked through');
        input.stop();
      };
      stop.signal.addEventListener('abort', end, { once: true });
      const timer =
        options.for !== undefined && input.isLive ? setTimeout(end, 1000 * options.for) : undefined;
      const page = await openNightPage(input, { options, backend, stop: end, say: report.say });
      const machines = await joinMachines(options, page, report.say);
      try {
        await night(page?.input ?? input, { ...common, ...early, ...(page && { page }) });
      } finally {
        clearTimeout(timer);
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

async function night(input: OpenedInput, given: Night): Promise<void> {
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
    integrationS: options.integration ?? Math.max(1, options.image ?? 0),
    align: options.align,
    flaggedInputs: parseFlags(options.flag, shape.inputs, shape.polarisations, telescope),
    ...(imaging && { imaging }),
    ...kurtosis.asked,
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
