import { describe, it } from 'node:test';
import { ringCases } from './cases.js';
import { ReferenceRing } from './reference.js';
import { tryRingCase } from './testing/try-case.js';

describe('the ring in TypeScript', () => {
  for (const one of ringCases) {
    it(one.name, () => tryRingCase(one, (plan, garbage) => new ReferenceRing(plan, undefined, garbage)));
  }
});
