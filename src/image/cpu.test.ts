import { describe, it } from 'node:test';
import { openCpu } from '../backend/cpu/cpu.js';
import { levelsUpTo } from '../backend/cpu/levels.js';
import { loadNative } from '../backend/cpu/library.js';
import { directImageCases } from './cases.js';

const library = loadNative();

describe('cpu direct imager', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of levelsUpTo('best' in library ? library.best : 'portable')) {
    describe(`at level ${isa}`, () => {
      directImageCases(() => openCpu({ isa, threads: 2 }));
    });
  }
  it('x', () => undefined);
});
