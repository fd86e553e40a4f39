import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  lengthCheck,
  NULL,
  plainPrototype,
  type Address,
  type ArgumentsOf,
  type CallArguments,
  type OpenArguments,
  type Opened,
} from './c-arguments.js';

const OPEN =
  'int32_t corella_full_solver_open(char *error, void *context, int64_t stations, _Out_ void **solver)';
const SOLVE = `int32_t corella_full_solver_run(char *error, void *context, void *solver, int32_t count,
  const double *data /*[count * 2 + 1]*/, const void *block, uint8_t *flags /*[count]*/)`;

/** Compiles where both are the same type. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;
const isSame = <Answer extends true>(answer: Answer): Answer => {
  assert.equal(answer, true);
  return answer;
};

describe('arguments of a C function', () => {
  it('are worked out from its prototype by the type system', () => {
    isSame<Same<OpenArguments<typeof OPEN>, [number | bigint]>>(true);
    isSame<Same<Opened<typeof OPEN>, Address<'corella_full_solver'>>>(true);
    type Solver = Address<'corella_full_solver'>;
    isSame<
      Same<
        CallArguments<typeof SOLVE>,
        [
          Solver,
          number,
          Float64Array | typeof NULL,
          ArrayBufferView | Address<'memory'> | typeof NULL,
          Uint8Array | typeof NULL,
        ]
      >
    >(true);
    isSame<
      Same<ArgumentsOf<'int32_t corella_x_open(char *error, const char *name, double at)'>[1], string | null>
    >(true);
    // A text known only at run time matches nothing.
    isSame<Same<ArgumentsOf<string>, never[]>>(true);
  });

  it('are refused by the compiler where an address, an array or a count is of another kind', () => {
    const call = (...args: CallArguments<typeof SOLVE>): number => args.length;
    const solver = 1n as Address<'corella_full_solver'>;
    const [data, flags] = [new Float64Array(5), new Uint8Array(2)];
    assert.equal(call(solver, 2, data, NULL, flags), 5);
    const other = 1n as Address<'corella_solver'>;
    // @ts-expect-error an object of other functions
    call(other, 2, data, NULL, flags);
    // @ts-expect-error a bare number for an address
    call(1n, 2, data, NULL, flags);
    // @ts-expect-error floats where doubles are read
    call(solver, 2, new Float32Array(5), NULL, flags);
    // @ts-expect-error an argument is missing
    call(solver, 2, data, NULL);
  });

  it('arrays are held to the lengths that the prototype notes', () => {
    const check = lengthCheck(SOLVE);
    assert.ok(check);
    const args = (count: number, data: number, flags: number): unknown[] => [
      new Uint8Array(512),
      1n,
      2n,
      count,
      new Float64Array(data),
      NULL,
      new Uint8Array(flags),
    ];
    check(args(2, 5, 2));
    check(args(0, 1, 0));
    check([...args(2, 5, 2).slice(0, 6), NULL]);
    assert.throws(() => {
      check(args(2, 4, 2));
    }, /corella_full_solver_run: data has 4 elements where count \* 2 \+ 1 are 5/);
    assert.throws(() => {
      check(args(2, 5, 1));
    }, /flags has 1 elements where count are 2/);
    // A missing count is no length.
    assert.throws(() => {
      check(args(Number.NaN, 5, 2));
    }, /data has 5 elements/);
    assert.equal(lengthCheck(OPEN), undefined);
    assert.throws(
      () => lengthCheck('int32_t corella_a_b(const double *x /*[rows]*/)'),
      /no argument is named rows/,
    );
  });

  it('are handed to C without the notes', () => {
    assert.equal(
      plainPrototype(SOLVE),
      'int32_t corella_full_solver_run(char *error, void *context, void *solver, int32_t count, ' +
        'const double *data, const void *block, uint8_t *flags)',
    );
  });
});
