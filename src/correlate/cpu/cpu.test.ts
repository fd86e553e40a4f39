import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { compiledLevels } from '../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../backend/cpu/library.js';
import { elementsPerSpectra, spectraCAT } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { correlateBlocks, correlateCases, whole } from '../cases.js';
import { prepareCorrelator } from '../index.js';
import { planCorrelation } from '../plan.js';
import { correlateReference } from '../reference-testing.js';
import { fullScaleSpectra, randomSpectra } from '../samples.testing.js';

const library = loadNative();

describe('cpu correlator', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      correlateCases(() => openCpu({ isa, threads: 2 }));

      it('a single block past 2³¹, cut inside where 32 bits end', async () => {
        const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 1, type: 'ci8' });
        const blocks = [70_001, 66_571, 1].map((samples) =>
          whole(fullScaleSpectra(plan, samples, randomStream(31, 'one sign')).fill(127), samples),
        );
        const cpu = await openCpu({ isa, threads: 2 });
        const { visibilities } = await correlateBlocks(plan, cpu, blocks);
        await cpu.close();
        // (127 + 127i)·conj(127 + 127i) = 32,258 a sample; 70,001 + 66,571 + 1 = 136,573 samples
        const sum = 32_258 * 136_573;
        assert.deepEqual([...visibilities], [sum, 0, sum, 0, sum, 0]);
      });

      it('many input blocks on one thread or five give the same bits', async () => {
        const plan = planCorrelation({ stations: 73, polarisations: 2, channels: 3, type: 'ci8' });
        const blocks = [whole(randomSpectra(plan, 200, randomStream(32, 'wide')), 200)];
        const expected = correlateReference(plan, blocks);
        for (const threads of [1, 5]) {
          const cpu = await openCpu({ isa, threads });
          assert.deepEqual(await correlateBlocks(plan, cpu, blocks), expected);
          await cpu.close();
        }
      });
    });
  }

  it('refuses values outside the contract, saying where, unless their input is flagged', async () => {
    const cpu = await openCpu({ threads: 1 });
    const block = cpu.allocateSpectra({ type: 'ci8', channels: 2, inputs: 2, capacity: 3 });
    const flaggedInputs = Uint8Array.of(1, 0);
    const options = { stations: 2, polarisations: 1, channels: 2, type: 'ci8' } as const;
    const plan = planCorrelation(options);
    const spectra = randomSpectra(plan, 3, randomStream(33, 'contract'));
    spectra[17] = -128; // channel 1, input 0, sample 2 is complex number (1·2 + 0)·3 + 2 = 8
    await block.write(spectra, 3);
    const strict = await prepareCorrelator(plan, cpu);
    await assert.rejects(strict.accumulate(block), /channel 1, input 0, sample 2 holds −128/);
    assert.equal((await strict.finish()).samples, 0);
    const lenient = await prepareCorrelator(planCorrelation({ ...options, flaggedInputs }), cpu);
    await lenient.accumulate(block);
    assert.equal((await lenient.finish()).samples, 3);
    await cpu.close();
  });

  it('finds such values of any type in any place, and takes all others', async () => {
    const cpu = await openCpu({ threads: 1 });
    // Values are tested several at a time: eleven samples end between two tests.
    const [inputs, samples] = [2, 11];
    const wrong = { ci8: [-128], ci4: [0x80, 0x38, 0x08, 0x87], cf32: [NaN, Infinity, -Infinity] } as const;
    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 1, type });
      const block = cpu.allocateSpectra({ type, channels: 1, inputs, capacity: samples });
      const correlator = await prepareCorrelator(plan, cpu);
      const parts = elementsPerSpectra(type);
      const spectra = fullScaleSpectra(plan, samples, randomStream(34, type));
      await block.write(spectra, samples);
      await correlator.accumulate(block);
      for (const value of wrong[type]) {
        for (let at = 0; at < spectra.length; at++) {
          const broken = spectraCAT(spectra.slice(), type, 1, inputs, samples);
          broken[at] = value;
          await block.write(broken, samples);
          const [input, sample] = [Math.floor(at / parts / samples), Math.floor(at / parts) % samples];
          const words = new RegExp(`channel 0, input ${input}, sample ${sample} (holds −|is not a finite)`);
          await assert.rejects(correlator.accumulate(block), words);
        }
      }
      await block.close();
    }
    await cpu.close();
  });
});
