import { expect, it } from 'vitest';
import {
  CLOSED_PROVIDER_CIRCUIT,
  type ProviderCircuit,
  providerCircuitAt,
  recordResult,
  triedOut,
  turnedAway,
} from '../../../src/domain/messages/provider-circuit.ts';
import { NOW, SECOND_MS } from '../../support/builders.ts';

/** Results at `now` in their order: of project A, B or C when it works, of a, b or c when it fails. */
const having = (results: string, now = NOW, before: ProviderCircuit = CLOSED_PROVIDER_CIRCUIT) =>
  [...results].reduce((circuit, sign) => {
    const projectId = sign.toUpperCase();
    return recordResult(circuit, { projectId, worked: sign === projectId, isTrial: false }, now);
  }, before);

const isOpen = ({ breaker }: ProviderCircuit) => breaker.openUntil !== null;
const TEN_OF_A = 'a'.repeat(10);
const stateOf = (circuit: ProviderCircuit, projectId: string, now: number) =>
  providerCircuitAt(circuit, projectId, now).state;

it('ten failures of the only project that sends open the circuit of a provider', () => {
  expect(isOpen(having('a'.repeat(9)))).toBe(false);
  expect(isOpen(having(TEN_OF_A))).toBe(true);
  expect(isOpen(having(`A${TEN_OF_A}`))).toBe(true);
});

it('failures of one project count as one for 30 seconds after a success of another', () => {
  const worked = having('B');
  expect(having('a'.repeat(100), NOW + 29_999, worked).breaker.failuresInRow).toBe(1);
  expect(isOpen(having(TEN_OF_A, NOW + 30_000, worked))).toBe(true);
});

it('a success of the project that fails does not hide that of another', () => {
  expect(isOpen(having(`BA${'a'.repeat(100)}`))).toBe(false);
});

it('a success of a third project does not hide that of another', () => {
  expect(isOpen(having(`CBA${'a'.repeat(100)}`))).toBe(false);
});

it('failures of two projects in alternation open the circuit of a provider, also after successes of both', () => {
  expect(isOpen(having('ABCababab'))).toBe(false);
  expect(isOpen(having('ABCabababa'))).toBe(true);
});

it('the attempt of a half-open circuit is kept for five seconds for a project that was turned away', () => {
  const open = turnedAway(having(TEN_OF_A), 'B');
  const halfOpen = NOW + SECOND_MS;
  expect(stateOf(open, 'A', halfOpen)).toBe('open');
  expect(stateOf(open, 'B', halfOpen)).toBe('half-open');
  expect(stateOf(open, 'A', halfOpen + 4_999)).toBe('open');
  expect(stateOf(open, 'A', halfOpen + 5_000)).toBe('half-open');
});

it('the attempt of a half-open circuit is for the project that failed when no other was turned away', () => {
  expect(stateOf(turnedAway(having(TEN_OF_A), 'A'), 'A', NOW + SECOND_MS)).toBe('half-open');
});

it('a trial that fails opens the circuit again, and the next one may be of the project before', () => {
  const trial = triedOut(turnedAway(having(TEN_OF_A), 'B'), NOW + SECOND_MS);
  const again = recordResult(trial, { projectId: 'B', worked: false, isTrial: true }, NOW + SECOND_MS);
  expect(again.breaker.openUntil).toBe(NOW + 6 * SECOND_MS);
  expect(stateOf(turnedAway(again, 'A'), 'B', NOW + 6 * SECOND_MS)).toBe('open');
  expect(stateOf(turnedAway(again, 'A'), 'A', NOW + 6 * SECOND_MS)).toBe('half-open');
});

it('a late failure of another attempt does not decide a trial, and a success does', () => {
  const trial = triedOut(having(TEN_OF_A), NOW + SECOND_MS);
  expect(having('a', NOW + SECOND_MS, trial)).toEqual(trial);
  expect(isOpen(having('A', NOW + SECOND_MS, trial))).toBe(false);
});
