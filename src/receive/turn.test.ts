import { describe, it } from 'node:test';
import { tryTurn } from './testing/try-turn.js';
import { allStreams } from '../packets/testing/streams.js';
import { turnCells } from './turn.js';

describe("the corner turn in TypeScript is unpackCell's", () => {
  for (const stream of allStreams) {
    it(stream.plan.format, () => tryTurn(stream.plan, turnCells));
  }
});
