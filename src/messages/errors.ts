/** Explanations of errors. Their text is written where they occur; a program acts on the code. */
import type { ErrorCode } from '../core/errors.js';

export const errorMessages: Readonly<Record<ErrorCode, string>> = {
  refused:
    'What was asked for cannot be done with these data, options or this machine. The message states what, where, and how to fix it. Errors that have no code of their own have this one.',
  'value.invalid':
    'An option or a field has a value that is not allowed: the wrong kind, or out of range. The message gives the allowed values; `corella COMMAND --help all` and docs/options.md list them.',
  unsupported:
    'These fields or options cannot be combined, or are not for this kind of source. The table "What cannot be combined" of docs/observation.md lists all combinations, and what to do instead.',
  'option.unknown':
    'The command has no such option. `corella COMMAND --help all` lists all of them; a similar name is suggested where there is one.',
  'option.incomplete':
    'An option lacks its value, or an option or argument that the command needs is missing. `corella COMMAND --help` shows what it takes.',
  'command.unknown': 'There is no such command. `corella` lists all of them.',
  'argument.unexpected':
    'The command line has more arguments than the command takes. Quote names that contain spaces.',
  'file.not-found': 'There is no file or folder of this name. Check the spelling, and the folder you are in.',
  'file.unreadable':
    'The file is there and cannot be read: its permissions, or a folder where a file is expected.',
  'file.unwritable':
    'The output cannot be written: the folder is missing or read-only, or the name is that of a folder.',
  'file.damaged':
    'The file is not what its header or its name states: it is truncated, damaged, or breaks the definition of its format. Copy it again, or check what wrote it.',
  'file.unknown-format':
    'No format that we read fits the beginning of this file. docs/formats.md lists the formats; raw samples need source.sample-type.',
  'file.exists':
    'The output is there already and is not replaced without being asked. Give overwrite: true, or another name.',
  'disk.full': 'The disk has no room for the output. What was complete before is kept.',
  'memory.insufficient':
    'The work does not fit in the memory of this machine. Use fewer channels, stations or pixels at a time.',
  'system.too-many-files':
    'The system allows too few open files. Allow more in this shell with ulimit -n 1024.',
  'backend.unavailable':
    'The backend that was asked for is not on this machine. `corella devices` lists those that are, and why others are not.',
  'network.unavailable':
    'An address cannot be used or reached: the port is in use, the server does not answer, or the interface does not exist.',
  interrupted: 'A signal (Ctrl-C) ended the command. Outputs that were not complete are not there.',
  'result.partial':
    'The result was written, and something that was asked for is not in it. The exit code is 2.',
  'result.failed': 'The work was done, and a threshold was not reached. The exit code is 1.',
  'result.differs': 'Two files were compared, and they do not hold the same data. The exit code is 1.',
  'program.fault':
    'An error in Corella itself, or one of the system that we do not know. Please report it with the text and the command.',
};
