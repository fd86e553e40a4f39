/** What corella live takes. */
import type { Command } from 'commander';
import type { StoredValues } from '../../formats/index.js';
import type { ChannelRange } from '../../pipeline/stages/select-channels.js';
import { parseAlign, parseValues } from '../correlate.js';
import { parseKernel, parseWeight } from '../image.js';
import { addKurtosisOptions, type KurtosisOptions } from '../interference/kurtosis-options.js';
import { addVanVleckOption, type VanVleckOptions } from '../interference/van-vleck-lines.js';
import { addChannelOptions, type ChannelOptions } from '../options/channel-options.js';
import { addBackendOptions, addExamples, parseCount, type BackendOptions } from '../options/command.js';
import { addFlagsAndChannels, type CorrelatePartOptions } from '../options/correlate-part.js';
import { addEopOption } from '../options/eop-option.js';
import { addFineOption, type FineOptions } from '../options/fine-option.js';
import { addLevelsFileOption } from '../options/levels-options.js';
import { addOverwriteOption, type OutputOptions } from '../options/outputs.js';
import { angle, duration, frequency, rate } from '../options/quantity.js';
import { addSourceOption, telescopeWords } from '../options/sky-options.js';
import { addTrackOptions, type TrackOptions } from '../options/track-options.js';
import { takeRangesToo, type GivenChannels } from './band-option.js';
import type { InputOptions } from './input.js';
import { addMachineOptions, type MachineOptions } from './machines.js';
import { addPageOptions, type PageOptions } from './page.js';
import type { ImagingOptions } from './plans.js';
import { parseStreamType, streamTypes } from './stream-type.js';

export interface GivenOptions extends Omit<LiveOptions, 'channels' | 'band'> {
  readonly channels?: GivenChannels;
}

export interface LiveOptions
  extends
    BackendOptions,
    ChannelOptions,
    MachineOptions,
    Omit<CorrelatePartOptions, 'times'>,
    FineOptions,
    KurtosisOptions,
    OutputOptions,
    TrackOptions,
    VanVleckOptions,
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
  /** A file of equaliser gains. */
  readonly levels?: string;
}

export function addLiveOptions(command: Command): Command {
  command
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
    .option(
      '--for <time>',
      'ends after so long, like 60s or 8h, and where nothing came by then (default: never)',
      duration('--for'),
    );
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
      '--field <angle>',
      'width of the field around the zenith, in degrees or with a unit (default: the whole sky)',
      angle('--field'),
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
    .option('--rate <hz>', 'samples per second, like 2.4MHz', rate('--rate'))
    .option('--frequency <hz>', "the band's middle, like 58MHz", frequency('--frequency'))
    .option('--start <utc>', 'of the first sample of a stream (default: when it comes)');
  addPageOptions(command);
  addMachineOptions(command);
  addTrackOptions(command.optionsGroup('Delays, flags and channels:'), 'each integration and image');
  addFlagsAndChannels(command);
  addOverwriteOption(command);
  addLevelsFileOption(takeRangesToo(addChannelOptions(command)));
  addVanVleckOption(command);
  addFineOption(command);
  addKurtosisOptions(command);
  addBackendOptions(command);
  addEopOption(command);
  return addExamples(command, [
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
      'live --listen 7148 --telescope dishes.json --epoch clock --rate 16MHz --frequency 1.4GHz --track CygA -o cyg.uvh5',
      'packets of digitisers on dishes over kilometres: delays and fringes follow the source',
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
