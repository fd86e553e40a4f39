/** The machine that runs the observation. Nothing here changes the results beyond rounding. */
import { z } from 'zod';
import { backendKinds } from '../../core/backend-kinds.js';
import { field, flagged, whole, wholeList } from '../../fields/index.js';

const group = 'Running';
const backends = ['auto', ...backendKinds] as const;

export const machine = z.strictObject({
  backend: field(z.enum(backends), {
    flag: '--backend <name>',
    group,
    changes: 'never',
    default: 'auto',
    help: `where to compute: ${backends.join(', ')}`,
  }),
  threads: field(whole, {
    flag: '--threads <number>',
    group,
    changes: 'never',
    range: { least: 1, most: 4096 },
    help: 'threads of the cpu backend',
    otherwise: 'one per core',
  }),
  cards: field(wholeList, {
    flag: '--cards <list>',
    group,
    changes: 'never',
    help: 'cards by their numbers, like 0,1: channels are shared among them',
    otherwise: 'the first',
  }),
  'self-check': field(flagged, {
    group,
    changes: 'never',
    default: true,
    help: 'live: now and then compute a block again with the reference and compare',
  }),
});
