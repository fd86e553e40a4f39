import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import { issueWords } from './schema-words.js';

it("says what a schema has against JSON without the library's own words", () => {
  const schema = z.object({
    name: z.string(),
    list: z.array(z.number().min(2)).min(1).max(3),
    version: z.literal(1),
    kind: z.union([z.literal('a'), z.number()]).optional(),
    bits: z.union([z.literal(4), z.literal(8)]).optional(),
    feeds: z.union([z.literal(1), z.literal(2)], { error: 'is neither 1 nor 2' }).optional(),
  });
  const good = { name: 'x', list: [2], version: 1 };
  const words = (input: unknown): string => {
    const { error } = schema.safeParse(input);
    assert.ok(error);
    return issueWords(error.issues[0], input);
  };
  assert.equal(words({ ...good, name: 5 }), 'is a number where text belongs');
  assert.equal(words({ list: [2], version: 1 }), 'is missing');
  assert.equal(words({ ...good, list: 'abc' }), 'is text where a list belongs');
  assert.equal(words({ ...good, list: [] }), 'is too short: at least 1 is wanted');
  assert.equal(words({ ...good, list: [2, 2, 2, 2] }), 'is too long: at most 3 is wanted');
  assert.equal(words({ ...good, list: [1] }), 'is too small: at least 2 is wanted');
  assert.equal(words({ ...good, version: 2 }), 'is 2 where 1 belongs');
  assert.equal(words({ ...good, kind: true }), 'is true or false of no form that is known here');
  assert.equal(words({ ...good, bits: 6 }), 'is 6 where 4 or 8 belongs');
  assert.equal(words({ ...good, feeds: 3 }), 'is neither 1 nor 2');
  assert.equal(words([1]), 'is a list where an object belongs');
  assert.equal(words(null), 'is null where an object belongs');
});
