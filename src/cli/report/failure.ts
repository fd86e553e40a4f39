/** The report of an error that ends a command. */
import { InterruptedError } from '../../core/ending.js';
import { entryOf } from '../../core/entry-of.js';
import { CorellaError, type ErrorCode } from '../../core/errors.js';
import { escaped } from './escaped.js';

/** More elements than any array of the platform can hold: a request that is too large, not a bug of ours. */
const MOST_ELEMENTS = 2 ** 32;

/** Detects the platform's own errors for arrays that do not fit. */
function isTooLarge(error: unknown): error is RangeError {
  if (!(error instanceof RangeError)) return false;
  const length = /^Invalid (?:typed )?array length: (\d+)$/.exec(error.message);
  return length ? Number(length[1]) > MOST_ELEMENTS : error.message === 'Array buffer allocation failed';
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** What the system refuses to do with a file or folder, wherever it was asked. */
const SYSTEM_TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'may not be read, entered or written; change its permissions, or those of the folders above it',
  EPERM: 'may not be changed; change its permissions, or those of the folders above it',
  ELOOP: 'is one of links that lead in a circle; name the file itself',
  ENAMETOOLONG: 'has a name longer than the file system allows; give a shorter one',
  EROFS: 'is on a read-only disk; name another place',
  ENOSPC: 'cannot be written: the disk is full; make room, or name another place',
  EDQUOT: 'cannot be written: your quota is used up; make room, or name another place',
  EIO: 'cannot be read or written: the disk fails; check it',
};

function systemText(error: unknown): string | undefined {
  const text = entryOf(SYSTEM_TEXTS, String(codeOf(error)));
  return text !== undefined && error instanceof Error && 'path' in error
    ? `${String(error.path)}: ${text}`
    : undefined;
}

/** Text for platform errors that the user can fix. */
function platformText(error: unknown): string | undefined {
  if (isTooLarge(error))
    return `not enough memory (${error.message}); take fewer channels, stations or pixels at a time`;
  const text = systemText(error);
  if (text !== undefined) return text;
  // main.ts has the same text in case this file cannot be loaded.
  if (codeOf(error) === 'EMFILE')
    return 'too many files are open at once; allow more in this shell with ulimit -n 1024';
  if (
    codeOf(error) === 'ERR_INVALID_ARG_VALUE' &&
    error instanceof Error &&
    error.message.includes('null bytes')
  )
    return 'a file name holds a null byte; check the names on the command line and in the files that name others';
  return undefined;
}

/** System error codes of files and the network, and our codes for them. */
const SYSTEM_KINDS: Readonly<Partial<Record<string, ErrorCode>>> = {
  ENOENT: 'file.not-found',
  ENOTDIR: 'file.not-found',
  ENOSPC: 'disk.full',
  EDQUOT: 'disk.full',
  ELOOP: 'file.unreadable',
  ENAMETOOLONG: 'file.unreadable',
  EACCES: 'file.unreadable',
  EPERM: 'file.unreadable',
  EISDIR: 'file.unreadable',
  EMFILE: 'system.too-many-files',
  EADDRINUSE: 'network.unavailable',
  ECONNREFUSED: 'network.unavailable',
  ERR_INVALID_ARG_VALUE: 'value.invalid',
  'commander.unknownOption': 'option.unknown',
  'commander.unknownCommand': 'command.unknown',
  'commander.missingArgument': 'option.incomplete',
  'commander.optionMissingArgument': 'option.incomplete',
  'commander.missingMandatoryOptionValue': 'option.incomplete',
  'commander.invalidArgument': 'value.invalid',
};

/** The code of an error, for JSON and for corella help. */
export function kindOf(error: unknown): ErrorCode {
  if (error instanceof InterruptedError) return 'interrupted';
  if (error instanceof CorellaError)
    return error.kind === 'refused' ? (SYSTEM_KINDS[String(codeOf(error.cause))] ?? error.kind) : error.kind;
  if (isTooLarge(error)) return 'memory.insufficient';
  return SYSTEM_KINDS[String(codeOf(error))] ?? 'program.fault';
}

export function failureText(error: unknown): string {
  const known = error instanceof CorellaError ? error.message : platformText(error);
  if (known !== undefined) return `corella: ${escaped(known)}\n`;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `corella: an error in corella; please report it with this text:\n${escaped(text)}\n`;
}
