/** Programs of others that do what a command does, where they are installed. */
import type { BenchFiles, FileSize } from './files.js';
import { measureCommand } from './measured.js';

export interface Peer {
  readonly name: string;
  readonly words: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface CommandPeers {
  /** Peers that are not installed. */
  readonly absent: readonly string[];
  /** h5py reads every array of the file, and writes them again. */
  h5py(files: BenchFiles, size: FileSize, what: 'read' | 'write'): Promise<Peer | undefined>;
  /** python-casacore reads every column and writes it again. */
  casacore(files: BenchFiles, size: FileSize): Promise<Peer | undefined>;
  wsclean(
    files: BenchFiles,
    size: FileSize,
    pol: 'I' | 'IQUV',
    components: number,
  ): Promise<Peer | undefined>;
  /** Reads a recording, and copies what a command made of it. */
  copy(files: BenchFiles, size: FileSize, made: string): Promise<Peer>;
}

/** Whether a command runs at all. */
const isInstalled = (words: readonly string[], environment = {}): Promise<boolean> =>
  measureCommand(words, environment).then(
    () => true,
    () => false,
  );

/** Debian's Python has these modules. */
const PYTHON = '/usr/bin/python3';

/** Debian's wsclean refuses to run with OpenBLAS's own threads. */
const ONE_THREAD_EACH = { OPENBLAS_NUM_THREADS: '1' };

const READ_AND_WRITE = `
import sys, h5py
source = h5py.File(sys.argv[1], 'r')
made = h5py.File(sys.argv[2], 'w') if len(sys.argv) > 2 else None
def each(name, one):
    if isinstance(one, h5py.Dataset):
        values = one[()]
        if made is not None:
            made.create_dataset(name, data=values, dtype=one.dtype)
source.visititems(each)
if made is not None:
    made.close()
`;

const COPY_TABLE = `
import sys
from casacore.tables import table
table(sys.argv[1], ack=False).copy(sys.argv[2], deep=True, valuecopy=True).close()
`;

export async function findPeers(): Promise<CommandPeers> {
  const installed = {
    h5py: await isInstalled([PYTHON, '-c', 'import h5py']),
    casacore: await isInstalled([PYTHON, '-c', 'import casacore.tables']),
    wsclean: await isInstalled(['wsclean', '-version'], ONE_THREAD_EACH),
  };
  return {
    absent: Object.entries(installed).flatMap(([name, isThere]) => (isThere ? [] : [name])),
    h5py: async (files, size, what) => {
      if (!installed.h5py) return undefined;
      const path = await files.visibilities(size);
      const target = what === 'write' ? [files.out('peer.uvh5')] : [];
      return { name: `h5py, ${what}`, words: [PYTHON, '-c', READ_AND_WRITE, path, ...target] };
    },
    casacore: async (files, size) => {
      if (!installed.casacore) return undefined;
      const path = await files.measurementSet(size);
      return { name: 'python-casacore, copy', words: [PYTHON, '-c', COPY_TABLE, path, files.out('peer.ms')] };
    },
    wsclean: async (files, size, pol, components) => {
      if (!installed.wsclean) return undefined;
      const path = await files.measurementSet(size);
      return {
        name: 'WSClean',
        words: [
          ...['wsclean', '-weight', 'natural', '-use-wgridder', '-no-update-model-required', '-quiet'],
          ...['-size', '512', '512', '-scale', '0.1deg', '-pol', pol, '-niter', `${components}`],
          ...['-temp-dir', files.out('.'), '-name', files.out('peer'), path],
        ],
        environment: ONE_THREAD_EACH,
      };
    },
    copy: async (files, size, made) => {
      const [recording, written] = [(await files.recording(size)).replace(/meta$/, 'data'), files.out(made)];
      const script = 'cat "$1" > /dev/null && cp "$2" "$3"';
      return { name: 'cat and cp', words: ['sh', '-c', script, 'sh', recording, written, files.out('peer')] };
    },
  };
}
