/** Opening what a command was given, and saying plainly when it is the wrong kind of file. */
import { openBackend } from '../backend/select.js';
import type { Backend } from '../backend/backend.js';
import { refuse } from '../core/errors.js';
import type { OpenedFile, VisibilityFile, VoltageRecording } from '../formats/format.js';
import { openFile, type OpenFileOptions } from '../formats/registry.js';
import type { Telescope } from '../telescope/telescope.js';
import type { BackendOptions } from './command.js';

const kindTitles = {
  voltages: 'a recording of voltages',
  spectra: 'channelised data',
  visibilities: 'visibilities',
} as const satisfies Record<OpenedFile['kind'], string>;

async function wrongKind(opened: OpenedFile, wanted: string): Promise<never> {
  await opened.close();
  return refuse(
    opened.path,
    `holds ${kindTitles[opened.kind]}, not ${wanted}`,
    'see what is in it with corella inspect',
  );
}

export async function openVoltages(path: string, options: OpenFileOptions = {}): Promise<VoltageRecording> {
  const opened = await openFile(path, options);
  return opened.kind === 'voltages' ? opened : wrongKind(opened, kindTitles.voltages);
}

export async function openVisibilities(path: string, options: OpenFileOptions = {}): Promise<VisibilityFile> {
  const opened = await openFile(path, options);
  return opened.kind === 'visibilities' ? opened : wrongKind(opened, kindTitles.visibilities);
}

export function telescopeOf(opened: OpenedFile): Telescope {
  return (
    opened.telescope ??
    refuse(opened.path, 'does not say where its stations stand', 'name it with --telescope')
  );
}

/** Opens the backend asked for, runs the work, and closes it whatever happens. */
export async function withBackend<Result>(
  options: BackendOptions,
  work: (backend: Backend) => Promise<Result>,
): Promise<Result> {
  const backend = await openBackend(
    options.backend,
    options.threads === undefined ? {} : { threads: options.threads },
  );
  try {
    return await work(backend);
  } finally {
    await backend.close();
  }
}
