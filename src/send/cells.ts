/** From a block of samples to packet payloads: the inverse corner turn. */
import { elementsPerSpectra, elementsPerVoltage, type SpectraType, type VoltageType } from '../core/axes.js';
import { fragmentRange, type CellLayout } from '../core/presence/presence.js';
import { packCell } from '../packets/cell.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { stepsOf } from '../receive/index.js';

/** Samples in the canonical order [c][a][t]; voltages are one channel. */
export interface Samples {
  readonly elements: ArrayLike<number>;
  readonly samples: number;
}

type CellPacker = (block: Samples, sender: number, fragment: number, slot: number) => Uint8Array;

/** Whole bytes are copied unchanged; anything else number by number. */
export function cellPacker(plan: StreamPlan): CellPacker {
  const { cell, inputs, samplesPerSlot, cellBytes, type } = plan;
  const layout: CellLayout = plan;
  const { sizes } = cell;
  const steps = stepsOf(cell);
  const elements =
    plan.holds === 'spectra'
      ? elementsPerSpectra(type as SpectraType)
      : elementsPerVoltage(type as VoltageType);
  const isNibbles = type === 'ci4' && cell.bits === 4 && cell.bitsFrom === 'highest';
  if (!isNibbles && cell.bits !== 8) {
    return ({ elements: values, samples }, sender, fragment, slot) => {
      const { firstChannel, firstInput } = fragmentRange(layout, sender, fragment);
      return packCell(cell, values, {
        firstChannel,
        firstInput,
        firstSample: slot * samplesPerSlot,
        inputs,
        samples,
      });
    };
  }
  const offset = cell.code === 'offset' ? 128 : 0;
  return ({ elements: values, samples }, sender, fragment, slot) => {
    const box = fragmentRange(layout, sender, fragment);
    const bytes = new Uint8Array(cellBytes);
    for (let c = 0; c < sizes.c; c++) {
      for (let a = 0; a < sizes.a; a++) {
        const line = (box.firstChannel + c) * inputs + box.firstInput + a;
        let from = (line * samples + slot * samplesPerSlot) * elements;
        let to = (c * steps.c + a * steps.a) * elements;
        for (let t = 0; t < sizes.t; t++, to += steps.t * elements) {
          for (let part = 0; part < elements; part++) bytes[to + part] = values[from++] + offset;
        }
      }
    }
    return bytes;
  };
}

/** The layout of a slot's packets: each has this many bytes, with the payload at the end. */
interface PacketRoom {
  readonly each: number;
  readonly perSlot: number;
  /** packets : [slot][sender][fragment][each] */
  readonly packets: Uint8Array;
}

/** Slots packed side by side, so that each line of samples is read once and their packets stay in the nearest cache. */
const TILE = 64;

/** All slots of a block at once, with the payloads of `cellPacker`. */
export function slotsPacker(plan: StreamPlan): (block: Samples, slots: number, room: PacketRoom) => void {
  const { cell, inputs, samplesPerSlot, cellBytes, type, fragments } = plan;
  const { sizes } = cell;
  const one = cellPacker(plan);
  const steps = stepsOf(cell);
  const places = plan.sources.flatMap((_, sender) =>
    Array.from({ length: fragments }, (_unused, fragment) => ({ sender, fragment })),
  );
  // One byte per sample, one sample per packet: CHIPS and SNAP2, which send single spectra.
  if (type !== 'ci4' || cell.bits !== 4 || cell.bitsFrom !== 'highest' || samplesPerSlot !== 1) {
    return (block, slots, { each, perSlot, packets }) => {
      for (let slot = 0; slot < slots; slot++) {
        places.forEach(({ sender, fragment }, n) => {
          const to = (slot * perSlot + n + 1) * each - cellBytes;
          packets.set(one(block, sender, fragment, slot), to);
        });
      }
    };
  }
  return ({ elements: values, samples }, slots, { each, perSlot, packets }) => {
    const step = perSlot * each;
    for (let tile = 0; tile < slots; tile += TILE) {
      const end = Math.min(slots, tile + TILE);
      places.forEach(({ sender, fragment }, n) => {
        const { firstChannel, firstInput } = fragmentRange(plan, sender, fragment);
        for (let c = 0; c < sizes.c; c++) {
          for (let a = 0; a < sizes.a; a++) {
            const from = ((firstChannel + c) * inputs + firstInput + a) * samples;
            let to = (tile * perSlot + n + 1) * each - cellBytes + c * steps.c + a * steps.a;
            for (let slot = tile; slot < end; slot++, to += step) packets[to] = values[from + slot];
          }
        }
      });
    }
  };
}
