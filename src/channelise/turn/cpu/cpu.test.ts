import { describe } from 'node:test';
import { openCpu } from '../../../backend/cpu/cpu.js';
import { compiledLevels } from '../../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { turningCases } from '../cases.js';

const library = loadNative();

describe('cpu turner', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      turningCases(() => openCpu({ isa, threads: 2 }));
    });
  }
});
