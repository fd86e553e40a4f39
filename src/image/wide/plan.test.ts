import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gridSides, radicesOf } from './grid-size.js';
import { prepareTransform } from './kernel.js';
import { kernelTable } from './kernel-table.js';
import { chooseKernels } from './choice.js';
import { planWide, type WideOptions } from './plan.js';

const bounds = { leastWLambda: 0, mostWLambda: 600, visibilities: 3e6 };
const options: WideOptions = { pixels: 1536, pixelCosine: 0.5 / 1536, bounds };

describe('planWide', () => {
  it('single precision down to 3e-5, double below', () => {
    for (const [accuracy, precision] of [
      [1e-2, 'float32'],
      [3e-5, 'float32'],
      [2.9e-5, 'float64'],
      [1e-7, 'float64'],
    ] as const) {
      assert.equal(planWide({ ...options, accuracy }).precision, precision);
    }
  });

  it('n − 1 stays within its half range of the middle', () => {
    // corners at l = m = 0.25: 1 − √(1 − 0.125) = 0.064586
    const { middle, halfRange } = planWide(options);
    assert.ok(Math.abs(2 * halfRange - 0.0645857) < 1e-6);
    assert.equal(middle, -halfRange);
    const allSky = planWide({ ...options, pixelCosine: 2 / 1536 });
    assert.equal(allSky.halfRange, 0.5);
  });

  it('planes lie closer than the kernel needs, and cover the range of w', () => {
    const plan = planWide(options);
    const { support, planes, spacingLambda, firstLambda } = plan.w;
    assert.ok(spacingLambda * 2 * plan.halfRange <= 1 / 1.25);
    assert.ok(Math.abs(firstLambda + (spacingLambda * support) / 2) < 1e-9);
    assert.ok(firstLambda + (planes - 1) * spacingLambda >= 600 + (support / 2 - 1) * spacingLambda);
  });

  it('one plane where w changes nothing within the field', () => {
    const flat = planWide({ ...options, bounds: { ...bounds, mostWLambda: 1e-6 } });
    assert.deepEqual([flat.w.support, flat.w.planes], [1, 1]);
    const deep = planWide({ ...options, bounds: { ...bounds, leastWLambda: 600 - 1e-6 } });
    assert.deepEqual([deep.w.planes, deep.w.firstLambda], [1, 600 - 1e-6]);
  });

  it('corrections are the kernels’ transforms', () => {
    const plan = planWide(options);
    const kernel = kernelTable.find(
      (row) =>
        row.support === plan.support &&
        Math.abs(prepareTransform(row)(0.1) * plan.corrections[Math.round(0.1 * plan.gridCells)] - 1) < 1e-3,
    );
    assert.ok(kernel);
    const transform = prepareTransform(kernel);
    assert.ok(Math.abs(plan.corrections[768] * transform(768 / plan.gridCells) - 1) < 1e-12);
    // along w by a series: at the middle of the range y = 0, at its ends y = ±halfRange
    const sum = (t: number): number =>
      plan.w.series.reduce((total, term, k) => total + term * Math.cos(k * Math.acos(t)), 0);
    const wKernel = kernelTable.find(
      (row) =>
        row.support === plan.w.support &&
        Math.abs(row.oversampling * 2 * plan.halfRange * plan.w.spacingLambda - 1) < 1e-9,
    );
    assert.ok(wKernel);
    const wTransform = prepareTransform(wKernel);
    assert.ok(Math.abs(sum(-1) * wTransform(0) - 1) < 1e-9);
    assert.ok(Math.abs(sum(1) * wTransform(0.5 / wKernel.oversampling) - 1) < 1e-9);
  });

  it('holds as many planes as memory has room for', () => {
    const all = planWide(options);
    const planeBytes = all.gridCells ** 2 * 8;
    const fixed = all.memoryBytes - all.planesHeld * planeBytes;
    const tight = planWide({ ...options, memoryBytes: fixed + 2.5 * planeBytes });
    assert.equal(tight.planesHeld, 2);
    assert.equal(tight.memoryBytes, fixed + 2 * planeBytes);
    const ample = planWide({ ...options, memoryBytes: 1e12 });
    assert.equal(ample.planesHeld, ample.w.planes);
  });

  it('refuses what cannot be', () => {
    const refused = (change: Partial<WideOptions>, pattern: RegExp): void => {
      assert.throws(() => planWide({ ...options, ...change }), pattern);
    };
    refused({ pixels: 101 }, /101 pixels; give an even number such as 102/);
    refused({ pixels: 8 }, /from 16/);
    refused({ pixelCosine: 0 }, /pixel size/);
    refused({ accuracy: 1e-8 }, /accuracy is 1e-8; give a number from 1e-7 to 0.01/);
    refused({ bounds: { ...bounds, mostWLambda: Number.NaN } }, /most \|w\|/);
    refused({ bounds: { ...bounds, leastWLambda: 700 } }, /most \|w\|/);
    refused({ memoryBytes: 1e6 }, /1536² pixels take .* more than 1 MB; make the image smaller/);
    refused(
      { pixelCosine: 2 / 1536, bounds: { ...bounds, mostWLambda: 1e6 } },
      /planes of w, more than 65535/,
    );
  });
});

describe('sides of grids', () => {
  it('are whole pairs of tiles with small factors', () => {
    const sides = gridSides(100, 700);
    assert.deepEqual(sides.slice(0, 6), [128, 160, 192, 224, 256, 288]);
    for (const side of sides) {
      const radices = radicesOf(side) ?? [];
      assert.equal(
        radices.reduce((product, radix) => product * radix, 1),
        side,
      );
      assert.ok(radices[0] === 4 || radices[0] === 8);
    }
    assert.equal(radicesOf(352), undefined);
  });

  it('has kernels for small images of every size', () => {
    const bounds = { leastWLambda: 0, mostWLambda: 0.5, visibilities: 6 };
    for (let pixels = 16; pixels <= 128; pixels += 2)
      for (const accuracy of [1e-2, 1e-3, 1e-4, 3e-5, 1e-5])
        planWide({ pixels, pixelCosine: 1 / pixels, bounds, accuracy });
  });

  it('reports which accuracy would do where no kernel keeps one', () => {
    const costs = { visibility: 1, cell: 1, transform: 1, pixel: 1, planeCell: 1 };
    const asked = { pixels: 64, halfRange: 0.1, rangeLambda: 100, visibilities: 1000, costs };
    for (const [precision, accuracy, least] of [
      ['float32', 1e-8, '0.00003'],
      ['float64', 1e-15, '1e-7'],
    ] as const) {
      assert.throws(
        () => chooseKernels({ ...asked, precision, accuracy }),
        new RegExp(
          `no kernel keeps an accuracy of ${accuracy} in ${precision}; ask for less: products.images.accuracy from ${least} is kept`,
        ),
      );
      // And does.
      chooseKernels({ ...asked, precision, accuracy: Number(least) });
    }
  });
});
