/** What all commands share: a way to join the program, common options, examples under every --help. */
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';

/** One file per command exports one of these; commands.ts lists them. */
export type RegisterCommand = (program: Command) => void;

export const backendNames = ['auto', 'reference', 'cpu', 'cuda'] as const;
export type BackendName = (typeof backendNames)[number];

export interface CommonOptions {
  readonly json?: true;
  readonly quiet?: true;
}

export interface BackendOptions extends CommonOptions {
  readonly backend: BackendName;
  readonly threads?: number;
}

export function addCommonOptions(command: Command): Command {
  return command
    .option('--json', 'print one JSON document on standard output, nothing else')
    .option('--quiet', 'no progress, only the result');
}

export function addBackendOptions(command: Command): Command {
  return addCommonOptions(command)
    .option('--backend <name>', `where to compute: ${backendNames.join(', ')}`, parseBackend, 'auto')
    .option('--threads <number>', 'threads of the cpu backend (default: one per core)', parseCount);
}

export function addExamples(
  command: Command,
  examples: readonly (readonly [line: string, what: string])[],
): Command {
  const text = examples.map(([line, what]) => `  $ corella ${line}\n      ${what}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${text}\n`);
}

export function parseBackend(text: string): BackendName {
  const name = backendNames.find((known) => known === text);
  return name ?? refuse('--backend', `'${text}' is not a backend`, `choose ${backendNames.join(', ')}`);
}

export function parseCount(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) refuse('option', `'${text}' is not a whole number above 0`);
  return value;
}

export function parseWhole(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0)
    refuse('option', `'${text}' is not a whole number`);
  return value;
}
