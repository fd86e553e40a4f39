/** Faults that `send` may have, as options. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { FaultSettings, SourceLoss } from '../../send/index.js';
import { ANY_OPTION } from '../options/command.js';
import { duration } from '../options/quantity.js';

export interface FaultOptions {
  readonly lose: number;
  readonly duplicate: number;
  readonly reorder: number;
  readonly late: number;
  readonly corrupt: number;
  readonly loseSource: readonly SourceLoss[];
  readonly restart?: number;
  readonly jump?: { readonly atS: number; readonly byS: number };
  readonly seed: number;
}

export function addFaultOptions(command: Command): Command {
  return command
    .optionsGroup('Faults, the same for the same --seed:')
    .option('--lose <chance>', 'of each packet, like 0.02 or 2%', parseChance, 0)
    .option('--duplicate <chance>', 'comes twice', parseChance, 0)
    .option('--reorder <chance>', 'comes up to 40 packets later', parseChance, 0)
    .option('--late <chance>', 'comes a second later', parseChance, 0)
    .option('--corrupt <chance>', 'comes damaged, so that a receiver can see it', parseChance, 0)
    .option(
      '--lose-source <N@FROM-TO>',
      'one sender is silent for a while, like 3@5s-8s; may be repeated',
      parseLoss,
      [],
    )
    .option('--restart <time>', 'after so long all senders count from 0 again', duration('--restart'))
    .option(
      '--jump <AT:BY>',
      'after so long their clocks are so much further, like 5s:30s or 5s:-2s',
      parseJump,
    );
}

export const faultSettings = (options: FaultOptions): FaultSettings => {
  const { seed, lose, duplicate, reorder, late, corrupt, loseSource, restart, jump } = options;
  return {
    ...{ seed, lose, duplicate, reorder, late, corrupt, loseSource },
    ...(restart === undefined ? {} : { restartS: restart }),
    ...(jump && { jump }),
  };
};

function parseChance(text: string): number {
  const percent = /^(.*)%$/.exec(text.trim());
  const chance = percent ? Number(percent[1]) / 100 : Number(text);
  return chance >= 0 && chance <= 1
    ? chance
    : refuse(ANY_OPTION, `'${text}' is no chance`, 'give 0 to 1, or percent like 2%');
}

function parseLoss(text: string, before: readonly SourceLoss[]): readonly SourceLoss[] {
  const parts = /^(\d+)@([^-]+)-(.+)$/.exec(text);
  if (!parts) return refuse('--lose-source', `'${text}' is not understood`, 'write it like 3@5s-8s');
  const seconds = (part: string): number => (/^0[a-z]*$/.test(part) ? 0 : duration('--lose-source')(part));
  return [...before, { source: Number(parts[1]), fromS: seconds(parts[2]), toS: seconds(parts[3]) }];
}

function parseJump(text: string): { readonly atS: number; readonly byS: number } {
  const parts = /^([^:]+):([+-]?)(.+)$/.exec(text);
  if (!parts) return refuse('--jump', `'${text}' is not understood`, 'write it like 5s:30s or 5s:-2s');
  const sign = parts[2] === '-' ? -1 : 1;
  return { atS: duration('--jump')(parts[1]), byS: sign * duration('--jump')(parts[3]) };
}
