/** On a card: the resident chain behind a stage's face makes the bits that the stages make one after the other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeCuda, openCuda } from '../../backend/cuda/cuda.js';
import { imageCPML } from '../../core/axes.js';
import { parseInstant } from '../../core/instant.js';
import type { VoltageSource } from '../../core/sources.js';
import { fixedSource } from '../../sky/source.js';
import { simulate } from '../../sky/simulate.js';
import { planSimulation } from '../../sky/simulation-plan.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { channelsOf, planChannels } from '../channels.js';
import { run } from '../run.js';
import { prepareChannelise, spectrumGrid } from './channelise.js';
import { oneIntegration } from './clock.js';
import { prepareDirectImage, type DirectSkyImage } from './direct-image.js';
import { prepareResidentDirect } from './resident-direct.js';
import { chain, type Account } from './stage.js';

const card = describeCuda();

describe('a direct image on a card', { skip: card.present ? false : card.reason }, () => {
  it('is the same bits by the resident chain and stage after stage, gaps and gains included', async () => {
    const backend = await openCuda();
    const telescope = selectStations(await loadTelescope('lwasv'), 40);
    const start = parseInstant('2026-06-21T04:00:00Z');
    const simulation = planSimulation({
      ...{ telescope, start, samples: 40_000, sampleRateHz: 200e3, centreFrequencyHz: 40e6, type: 'ci8' },
      sources: [fixedSource({ name: 'spot', position: { raDeg: 230, decDeg: 40 }, fluxJy: 20_000 })],
      ...{ systemFluxJy: 5000, seed: 4, dropFraction: 0.05 },
    });
    const source: VoltageSource = {
      ...{ kind: 'voltages', type: 'ci8', inputs: simulation.inputs, polarisations: 2, start },
      ...{ sampleRateHz: 200e3, centreFrequencyHz: 40e6 },
      blocks: (blockSamples) => simulate(simulation, blockSamples),
      close: () => Promise.resolve(),
    };
    // Eight times what it takes by itself: some numbers hit the rails.
    const settings = { channels: 8, taps: 4, outputType: 'ci8' } as const;
    const gain = 8 * Number(planChannels(source, settings).gains);
    const plan = { ...planChannels(source, { ...settings, gain }), blockSamples: 8192 };
    const { frequenciesHz } = channelsOf(source, plan);
    const imaging = {
      telescope,
      frequenciesHz,
      lastsS: 0.19,
      image: { pixels: 128, field: { kind: 'all-sky' }, kernelSize: 5 },
    } as const;
    const resident = await prepareResidentDirect({ ...imaging, backend, plan, source });
    assert.ok(resident, 'an image this small fits every card');
    const stages = chain(
      await prepareChannelise({ backend, plan, source, clock: oneIntegration }),
      prepareDirectImage({ ...imaging, backend, grid: spectrumGrid(source, plan) }),
    );
    const made: DirectSkyImage[] = [];
    const accounts: Account[] = [];
    for (const stage of [resident, stages]) {
      const account = await run(source.blocks(8192), stage, (sky) => {
        const { channels, products, pixels } = sky.plan;
        made.push({ ...sky, image: imageCPML(sky.image.slice(), channels, products, pixels) });
        return Promise.resolve();
      });
      accounts.push(account);
    }
    assert.equal(made.length, 2);
    assert.ok(accounts[0].saturated > 100, `${accounts[0].saturated} numbers hit the rails`);
    assert.equal(accounts[0].saturated, accounts[1].saturated);
    assert.equal(made[0].samples, made[1].samples);
    assert.deepEqual(made[0].image, made[1].image);
    await backend.close();
  });
});
