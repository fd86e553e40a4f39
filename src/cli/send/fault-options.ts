/** Options for deliberate faults of `send`. */
import { refuse } from '../../core/errors.js';
import type { FaultSettings, SourceLoss } from '../../send/index.js';
import { duration } from '../options/quantity.js';
import { z } from 'zod';
import { field, timeS, withForm } from '../../fields/index.js';
import type { Options } from '../options/own.js';
import type { seed } from '../options/shared.js';

const group = 'Faults, the same for the same --seed';
const changes = 'never';
const chance = withForm(
  z
    .union([z.number(), z.string()])
    .transform((text) => (/%\s*$/.test(String(text)) ? parseFloat(String(text)) / 100 : Number(text)))
    .refine((value) => value >= 0 && value <= 1, 'is not a chance'),
  { words: '0 to 1, or percent like 2%' },
);
const fault = (name: string, help: string) =>
  field(chance, { flag: `--${name} <chance>`, group, changes, help, default: 0 });

export const faultFields = {
  lose: fault('lose', 'chance of each packet to be lost, like 0.02 or 2%; of the other faults likewise'),
  duplicate: fault('duplicate', 'the packet comes twice'),
  reorder: fault('reorder', 'it comes up to 40 packets later'),
  late: fault('late', 'it comes a second later'),
  corrupt: fault('corrupt', 'it comes damaged, so that a receiver can see it'),
  loseSource: field(z.array(lossText()), {
    flag: '--lose-source <N@FROM-TO>',
    group,
    changes,
    default: [],
    help: 'one sender is silent for a while, like 3@5s-8s; may be repeated',
  }),
  restart: field(timeS, {
    flag: '--restart <time>',
    group,
    changes,
    unit: 's',
    range: { above: 0 },
    help: 'after this long all senders count from 0 again',
  }),
  jump: field(
    z.string().transform((text) => parseJump(text)),
    {
      flag: '--jump <AT:BY>',
      group,
      changes,
      help: 'after AT the clocks of the senders jump by BY, like 5s:30s or 5s:-2s',
    },
  ),
};
export type FaultOptions = Options<z.ZodObject<typeof faultFields & { seed: typeof seed }>>;

export const faultSettings = (options: FaultOptions): FaultSettings => {
  const { seed, lose, duplicate, reorder, late, corrupt, loseSource, restart, jump } = options;
  return {
    seed,
    lose,
    duplicate,
    reorder,
    late,
    corrupt,
    loseSource,
    restartS: restart,
    jump,
  };
};

function lossText() {
  return z.string().transform((text): SourceLoss => parseLoss(text));
}

function parseLoss(text: string): SourceLoss {
  const parts = /^(\d+)@([^-]+)-(.+)$/.exec(text);
  if (!parts) return refuse('--lose-source', `'${text}' is not understood`, 'write it like 3@5s-8s');
  const seconds = (part: string): number => (/^0[a-z]*$/.test(part) ? 0 : duration('--lose-source')(part));
  return { source: Number(parts[1]), fromS: seconds(parts[2]), toS: seconds(parts[3]) };
}

function parseJump(text: string): { readonly atS: number; readonly byS: number } {
  const parts = /^([^:]+):([+-]?)(.+)$/.exec(text);
  if (!parts) return refuse('--jump', `'${text}' is not understood`, 'write it like 5s:30s or 5s:-2s');
  const sign = parts[2] === '-' ? -1 : 1;
  return { atS: duration('--jump')(parts[1]), byS: sign * duration('--jump')(parts[3]) };
}
