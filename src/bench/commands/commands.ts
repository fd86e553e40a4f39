/**
 * Whole commands, each in a process of its own, as a user runs them: beside them the kernels that they contain, for the
 * same shapes, and programs of others that do the same. Contestants alternate in every round.
 */
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { quantile } from '../measure.js';
import { integrationOf, samplesOf, valuesOf, type BenchFiles, type FileSize } from './files.js';
import { kernelSeconds, type KernelWork } from './kernels.js';
import { measureCommand, type Used } from './measured.js';
import type { CommandPeers, Peer } from './peers.js';

/** What `corella bench` calls them. */
export const COMMANDS = 'commands';

export interface CommandRow extends Used {
  readonly command: string;
  /** The size of its files, or `per data`: what 48 million values, or 1.5 GB of samples, more cost. */
  readonly file: FileSize['name'] | 'per data';
  /** CPU time of the kernels alone. */
  readonly kernelsS?: number;
  readonly peer?: string;
  readonly peerCpuS?: number;
  /** Our CPU time over the peer's; for commands on recordings over the sum of kernels and peer. */
  readonly ratio?: number;
}

export interface BenchCommand {
  readonly command: string;
  /** `recording`: its data are samples, and its work is beside the kernels; otherwise values of visibilities. */
  readonly reads: 'visibilities' | 'recording';
  /** Reads no file of the benchmark: measured once, not for each size. */
  readonly alone?: true;
  /** Words after `corella`; makes the files that it needs. */
  readonly words: (files: BenchFiles, size: FileSize) => Promise<readonly string[]>;
  readonly kernels?: (size: FileSize) => readonly KernelWork[];
  readonly peer?: (peers: CommandPeers, files: BenchFiles, size: FileSize) => Promise<Peer | undefined>;
}

type From = 'visibilities' | 'measurementSet';
const kindOf = { visibilities: 'uvh5', measurementSet: 'ms' } satisfies Record<From, string>;

const image = (stokes: 'I' | 'IQUV', from: From, clean = false): BenchCommand => ({
  command: `image ${stokes}${clean ? ' --clean' : ''} of ${kindOf[from]}`,
  reads: 'visibilities',
  words: async (files, size) => [
    ...['image', await files[from](size), '-o', files.out('image.fits'), '--no-picture'],
    ...['--centre', 'zenith', '--cell', '0.1', '--pixels', '512', '--stokes', stokes],
    ...(clean ? ['--clean', '1000'] : []),
  ],
  kernels: (size) => [{ kernel: 'wide', size, planes: stokes === 'I' ? 1 : 4 }],
  peer: (peers, files, size) => peers.wsclean(files, size, stokes, clean ? 1000 : 0),
});

const convert = (extension: 'uvh5' | 'uvfits' | 'ms', peer: BenchCommand['peer']): BenchCommand => ({
  command: `convert to ${extension}`,
  reads: 'visibilities',
  words: async (files, size) => [
    'convert',
    await files.visibilities(size),
    files.out(`converted.${extension}`),
  ],
  peer,
});

const readAndWrite: BenchCommand['peer'] = (peers, files, size) => peers.h5py(files, size, 'write');

const correlate = (name: string, integrationsOf: (size: FileSize) => number): BenchCommand => ({
  command: `correlate, ${name}`,
  reads: 'recording',
  words: async (files, size) => [
    ...['correlate', await files.recording(size), '-o', files.out('correlated.uvh5')],
    ...['--channels', `${size.channels}`, '--integration', integrationOf(size, integrationsOf(size))],
  ],
  kernels: (size) => [
    { kernel: 'channelise', size },
    { kernel: 'correlate', size },
  ],
  peer: (peers, files, size) => peers.copy(files, size, 'correlated.uvh5'),
});

export const benchCommands: readonly BenchCommand[] = [
  {
    command: 'inspect',
    reads: 'visibilities',
    words: async (files, size) => ['inspect', await files.visibilities(size)],
    peer: (peers, files, size) => peers.h5py(files, size, 'read'),
  },
  convert('uvh5', readAndWrite),
  convert('uvfits', readAndWrite),
  convert('ms', (peers, files, size) => peers.casacore(files, size)),
  {
    command: 'apply',
    reads: 'visibilities',
    words: async (files, size) => [
      'apply',
      await files.visibilities(size),
      await files.gains(size),
      files.out('applied.uvh5'),
    ],
    peer: readAndWrite,
  },
  {
    command: 'calibrate',
    reads: 'visibilities',
    words: async (files, size) => [
      ...['calibrate', await files.visibilities(size)],
      ...['-o', files.out('solved.json'), '--min-baseline', '0'],
    ],
    kernels: (size) => [{ kernel: 'calibrate', size }],
    peer: (peers, files, size) => peers.h5py(files, size, 'read'),
  },
  image('I', 'measurementSet'),
  image('IQUV', 'measurementSet'),
  image('I', 'visibilities'),
  image('IQUV', 'visibilities'),
  image('I', 'measurementSet', true),
  correlate('5 integrations', () => 5),
  correlate('100 integrations', () => 100),
  {
    command: 'channelise',
    reads: 'recording',
    words: async (files, size) => [
      ...['channelise', await files.recording(size), '-o', files.out('spectra.sigmf-meta')],
      ...['--channels', `${size.channels}`],
    ],
    kernels: (size) => [{ kernel: 'channelise', size }],
    peer: (peers, files, size) => peers.copy(files, size, 'spectra.sigmf-data'),
  },
  {
    command: 'demo',
    reads: 'recording',
    alone: true,
    words: (files) => Promise.resolve(['demo', '-o', files.out('demo')]),
  },
];

export interface CommandCase {
  readonly parameters: { readonly command: string; readonly file: FileSize['name'] };
  readonly each: BenchCommand;
  readonly size: FileSize;
}

export const commandCases = (sizes: readonly FileSize[]): CommandCase[] =>
  benchCommands.flatMap((each) =>
    (each.alone ? sizes.slice(0, 1) : sizes).map((size) => ({
      parameters: { command: each.command, file: size.name },
      each,
      size,
    })),
  );

interface Settings {
  readonly corella: readonly string[];
  readonly files: BenchFiles;
  readonly peers: CommandPeers;
  /** Runs the kernels; undefined where the cpu backend is not built. */
  readonly backend: CpuBackend | undefined;
  readonly rounds: number;
}

/** The median of each figure over the rounds. */
export async function measureCase(
  { each, size }: CommandCase,
  { corella, files, peers, backend, rounds }: Settings,
): Promise<CommandRow> {
  const own = await each.words(files, size);
  const words = [...corella, ...own, ...(own[0] === 'inspect' ? [] : ['--overwrite'])];
  const ours: Used[] = [];
  const theirs: Used[] = [];
  let peer: Peer | undefined;
  for (let round = 0; round < rounds; round++) {
    ours.push(await measureCommand(words));
    // A peer may copy what the command wrote.
    if (round === 0) peer = await each.peer?.(peers, files, size);
    if (peer) theirs.push(await measureCommand(peer.words, peer.environment));
  }
  const used = medianOf(ours);
  const works = each.kernels?.(size);
  let kernelsS: number | undefined;
  if (works && backend) {
    kernelsS = 0;
    for (const work of works) kernelsS += await kernelSeconds(work, backend);
  }
  const peerCpuS = theirs.length > 0 ? medianOf(theirs).cpuS : undefined;
  return withRatio(each, {
    command: each.command,
    file: size.name,
    ...used,
    ...(kernelsS !== undefined && { kernelsS }),
    ...(peer && peerCpuS !== undefined && { peer: peer.name, peerCpuS }),
  });
}

function withRatio({ reads }: Pick<BenchCommand, 'reads'>, row: CommandRow): CommandRow {
  const beside = (row.peerCpuS ?? 0) + (reads === 'recording' ? (row.kernelsS ?? 0) : 0);
  return beside > 0 && row.peerCpuS !== undefined ? { ...row, ratio: row.cpuS / beside } : row;
}

function medianOf(runs: readonly Used[]): Used {
  const of = (name: keyof Used): number =>
    quantile(
      runs.map((run) => run[name]),
      0.5,
    );
  return { cpuS: of('cpuS'), wallS: of('wallS'), peakBytes: of('peakBytes') };
}

/** What so much more data cost: 48 million values of visibilities, or the samples between 0.5 and 2 GB. */
const DATA = { visibilities: 48e6, recording: 600 * 10_240 } as const;

/** The difference of two sizes of one command, for the same amount of data whichever sizes they are. */
export function perData(
  { command, reads }: Pick<BenchCommand, 'command' | 'reads'>,
  [less, more]: readonly [CommandRow, CommandRow],
  [lessSize, moreSize]: readonly [FileSize, FileSize],
): CommandRow {
  const dataOf = reads === 'recording' ? samplesOf : valuesOf;
  const scale = DATA[reads] / (dataOf(moreSize) - dataOf(lessSize));
  const between = (of: (row: CommandRow) => number | undefined): number | undefined => {
    const [a, b] = [of(less), of(more)];
    return b === undefined ? undefined : scale * (b - (a ?? 0));
  };
  const kernelsS = between((row) => row.kernelsS);
  const peerCpuS = between((row) => row.peerCpuS);
  return withRatio(
    { reads },
    {
      command,
      file: 'per data',
      cpuS: scale * (more.cpuS - less.cpuS),
      wallS: scale * (more.wallS - less.wallS),
      peakBytes: more.peakBytes,
      ...(kernelsS !== undefined && { kernelsS }),
      ...(peerCpuS !== undefined && { peer: more.peer, peerCpuS }),
    },
  );
}
