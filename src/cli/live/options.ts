/** The flags of corella live: fields of an observation, and options that join machines. */
import type { Command } from 'commander';
import { addFlags, type Flags, type FlagSettings } from '../../observation/flags.js';
import { directFlag, flagRules } from '../../observation/shorthands.js';
import type { CommonOptions } from '../options/command.js';
import { useEop } from '../options/eop-option.js';
import { addHelp } from '../startup/help.js';
import { z } from 'zod';
import { addFields, type Options } from '../options/own.js';
import { access, common, eop, plan } from '../options/shared.js';
import { aboutField, field, words } from '../../fields/index.js';
import { images } from '../../products/index.js';

const group = 'Several machines';
const machineFields = z.strictObject({
  ...access,
  night: field(words('a name'), {
    flag: '--night <name>',
    group,
    changes: 'never',
    otherwise: 'night',
    help: 'name that all machines of one telescope share',
  }),
  machine: field(words('a name'), {
    flag: '--machine <name>',
    group,
    changes: 'never',
    otherwise: 'its host name',
    help: 'name of this machine',
  }),
});
export type MachineOptions = Options<typeof machineFields>;

/** Options that are not part of an observation. */
export interface LiveOptions extends CommonOptions, MachineOptions {
  readonly plan?: true;
  readonly eop?: string;
}

/** Options that apply only to files. */
const notLive = [
  'sample-bits',
  'skip',
  'near',
  'tuning',
  'metafits',
  'remove-cables',
  'sideband',
  'duration',
  'stored-pair',
  'seconds-of',
  'column',
  'target',
].map((name) => `source.${name}`);

const settings: FlagSettings = {
  parts: [
    ...(['source', 'products.visibilities', 'products.images', 'gains', 'page'] as const),
    ...(['front', 'flags', 'observation', 'machine'] as const),
  ],
  renamed: {
    'products.visibilities.visibilities': { otherwise: 'none' },
    'products.visibilities.integration': { otherwise: '1s, or that of an image' },
    'products.visibilities.align': { otherwise: 'utc' },
    'products.images.images': {
      flag: '--picture <path>',
      otherwise: 'live.png',
      help: aboutField(images.shape.picture)?.help,
    },
    'products.images.every': { flag: '--image <time>', otherwise: 'none' },
    'gains.min-baseline': { group: 'Gains solved on the page' },
    'gains.element': { group: 'Gains solved on the page' },
    'gains.diffuse': { group: 'Gains solved on the page' },
  },
  without: [
    ...notLive,
    'front.float-taps',
    'front.equaliser-out',
    'gains.cross-hand',
    'machine.cards',
    'eop',
    'products.visibilities.phase-centre',
    'products.images.autos',
    'products.images.cube',
    'products.images.beam-corrected',
    'products.images.element',
    'products.images.picture',
    'products.images.sheet',
  ],
  also: [flagRules, directFlag],
  filledBy: {
    'products.images.align': '--align',
    'products.images.van-vleck': '--van-vleck',
    'products.images.channels': '--keep-channels',
    eop: '--eop',
  },
};

export function addLiveOptions(command: Command): Flags {
  command.argument(
    '[from...]',
    '- for standard input, tcp://host:port, kraken:host, or a recording; several streams side by side',
  );
  const flags = addFlags(command, settings);
  addFields(command, machineFields);
  useEop(addFields(command, z.strictObject({ ...common, plan, eop })));
  addHelp(command, {
    common: [
      '--listen',
      '--from',
      '--telescope',
      '--image',
      '--out',
      '--integration',
      '--gains',
      '--direct',
      '--page',
      '--for',
      '--flag',
      '--overwrite',
      '--plan',
    ],
    examples: [
      [
        'live --listen 4015 --telescope lwasv --image 1s',
        'packets of any format we know, a picture every second',
      ],
      [
        'live --listen 239.1.2.3:4015 --interface eth1 --telescope lwasv -o run.uvh5 --file-every 10min',
        'visibilities, a new file every ten minutes',
      ],
      [
        'live --listen 4015 --telescope lwasv --image 1s -o run.uvh5 --plan',
        'the same as an observation file, for corella run',
      ],
      [
        'live --listen 239.1.2.3:4015 --telescope lwasv --receive-channels 0-65 -o low.uvh5 --server nats://head:4222 --machine low',
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
    ],
  });
  return flags;
}
