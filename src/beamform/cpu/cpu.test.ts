import { describe } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { levelsUpTo } from '../../backend/cpu/levels.js';
import { loadNative } from '../../backend/cpu/library.js';
import { beamCases } from '../cases.js';

const library = loadNative();

describe('cpu beamformer', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of levelsUpTo('best' in library ? library.best : 'portable'))
    describe(`at level ${isa}`, () => {
      beamCases(() => openCpu({ isa, threads: 2 }));
    });
});
