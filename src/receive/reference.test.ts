import { describe, it } from 'node:test';
import { ringCases } from './cases.js';
import { ReferenceRing } from './reference.js';
import { jumpTrials } from './testing/jump-cases.js';
import { tryRingCase, type OpenRing } from './testing/try-case.js';

describe('the ring in TypeScript', () => {
  const open: OpenRing = (plan, garbage) => new ReferenceRing(plan, undefined, garbage);
  for (const one of ringCases) it(one.name, () => tryRingCase(one, open));
  for (const [name, tryIt] of jumpTrials) it(name, () => tryIt(open));
});
