import { describe } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { compiledLevels } from '../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../backend/cpu/library.js';
import { beamCases } from '../cases.js';

const library = loadNative();

describe('cpu beamformer', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library))
    describe(`at level ${isa}`, () => {
      beamCases(() => openCpu({ isa, threads: 2 }));
    });
});
