/** Opens a command's input, with a clear error for the wrong kind of file. */
import { openBackend } from '../backend/select.js';
import type { Backend } from '../backend/backend.js';
import { refuse } from '../core/errors.js';
import { message, type Message } from '../messages/index.js';
import {
  type OpenedFile,
  openFile,
  type OpenFileOptions,
  refuseSeveralTargets,
  type UnknownFact,
  type VisibilityFile,
} from '../formats/index.js';
import { unknownFactWords } from '../observation/index.js';
import { threadsOf, type BackendOptions } from './options/command.js';

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

export async function openVisibilities(path: string, options: OpenFileOptions = {}): Promise<VisibilityFile> {
  const opened = await openFile(path, options);
  return opened.kind === 'visibilities' ? opened : wrongKind(opened, kindTitles.visibilities);
}

/**
 * If the result would be wrong: fringes depend on frequency, and the sky on time; one of several targets must be
 * chosen.
 */
export function refuseUnknown(file: OpenedFile): void {
  if (file.kind === 'visibilities') refuseSeveralTargets(file);
  for (const one of unknownIn(file)) {
    const [what, fix] = unknownFactWords[one];
    refuse(file.path, `does not say ${what}`, fix);
  }
}

/** If the result would only be incomplete. */
export const unknownFactLines = (file: OpenedFile): Message[] =>
  unknownIn(file).map((one) => {
    const [what, fix] = unknownFactWords[one];
    return message('file.unknown-fact', { what, fix });
  });

const unknownIn = (file: OpenedFile): readonly UnknownFact[] =>
  file.kind === 'visibilities' ? [] : (file.unknownFacts ?? []);

/** Opens the chosen backend, runs the work, and closes the backend in any case. */
export async function withBackend<Result>(
  options: BackendOptions,
  work: (backend: Backend) => Promise<Result>,
): Promise<Result> {
  const backend = await openBackend(options.backend, threadsOf(options));
  try {
    return await work(backend);
  } finally {
    await backend.close();
  }
}
