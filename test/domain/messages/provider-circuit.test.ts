import { expect, it } from 'vitest';
import {
  afterBegin,
  afterResult,
  attemptAt,
  type CircuitAttempt,
  CLOSED_PROJECT_CIRCUIT,
  CLOSED_PROVIDER_CIRCUIT,
  type ProjectCircuit,
  type ProviderCircuit,
} from '../../../src/domain/messages/provider-circuit.ts';
import { HALF_OPEN_MS_MAX } from '../../../src/domain/shared/circuit-breaker.ts';
import { NOW, SECOND_MS } from '../../support/builders.ts';

/** The circuits of one provider. */
class Circuits {
  now = NOW;
  provider: ProviderCircuit = CLOSED_PROVIDER_CIRCUIT;
  readonly #projects = new Map<string, ProjectCircuit>();

  /** Null when the message was turned away. */
  begin(projectId: string): CircuitAttempt | null {
    const circuits = this.#of(projectId);
    const attempt = attemptAt(circuits, projectId, this.now);
    if (attempt !== null) this.#keep(projectId, afterBegin(circuits, attempt, this.now));
    return attempt;
  }

  end(attempt: CircuitAttempt | null, worked: boolean | null): void {
    if (attempt === null) throw new Error('the message was turned away');
    const { projectId } = attempt;
    this.#keep(projectId, afterResult(this.#of(projectId), attempt, worked, this.now));
  }

  /** Messages one after another: of project A, B, C when they succeed, of a, b, c when they fail; `-` were turned away. */
  send(results: string): string {
    return [...results]
      .map((sign) => {
        const projectId = sign.toUpperCase();
        const attempt = this.begin(projectId);
        if (attempt === null) return '-';
        this.end(attempt, sign === projectId);
        return sign;
      })
      .join('');
  }

  isOpen(projectId?: string): boolean {
    const { breaker } = projectId === undefined ? this.provider : this.#of(projectId).project;
    return breaker.openUntil !== null;
  }

  #of(projectId: string) {
    return {
      project: this.#projects.get(projectId) ?? CLOSED_PROJECT_CIRCUIT,
      provider: this.provider,
    };
  }

  #keep(projectId: string, circuits: { project: ProjectCircuit; provider: ProviderCircuit }): void {
    this.#projects.set(projectId, circuits.project);
    this.provider = circuits.provider;
  }
}

const TEN_OF_A = 'a'.repeat(10);
const having = (results: string) => {
  const circuits = new Circuits();
  circuits.send(results);
  return circuits;
};

it('ten failures of the only project that sends open its circuit and that of all projects', () => {
  const nine = having('a'.repeat(9));
  expect([nine.isOpen(), nine.isOpen('A')]).toEqual([false, false]);
  const ten = having(`A${TEN_OF_A}`);
  expect([ten.isOpen(), ten.isOpen('A')]).toEqual([true, true]);
});

it('ten failures of several projects open the circuit of all projects and of none alone', () => {
  const circuits = having('abcdeabcde');
  expect(circuits.isOpen()).toBe(true);
  expect([...'ABCDE'].some((projectId) => circuits.isOpen(projectId))).toBe(false);
  expect(circuits.send('ABCDE')).toBe('-----');
});

it('a success of another project closes the circuit of all projects and leaves that of the project open', () => {
  const circuits = having(`${TEN_OF_A}B`);
  expect([circuits.isOpen(), circuits.isOpen('A')]).toEqual([false, true]);
  expect(circuits.send('AB')).toBe('-B');
});

it('a project that has not failed tries an open circuit at once, and one such message is in flight at a time', () => {
  const circuits = having(TEN_OF_A);
  const trial = circuits.begin('B');
  expect(trial).toMatchObject({ trialOf: 'provider' });
  expect([circuits.begin('B'), circuits.begin('C')]).toEqual([null, null]);
  circuits.end(trial, false);
  expect(circuits.send('bc')).toBe('-c');
});

it('a trial that fails opens the circuit of all projects for longer, and any project has the next one', () => {
  const circuits = having(`${TEN_OF_A}b`);
  circuits.now += 5 * SECOND_MS - 1;
  expect(circuits.send('B')).toBe('-');
  circuits.now += 1;
  expect(circuits.send('b')).toBe('b');
  circuits.now += 15 * SECOND_MS;
  expect(circuits.send('BB')).toBe('BB');
});

it('the trial of a project is apart from that of all projects', () => {
  const circuits = having(TEN_OF_A);
  circuits.now += SECOND_MS;
  const trial = circuits.begin('A');
  expect(trial).toMatchObject({ trialOf: 'project' });
  expect(circuits.begin('A')).toBeNull();
  expect(circuits.begin('B')).toMatchObject({ trialOf: 'provider' });
});

it('a project with a success in the last ten seconds and no failure since passes an open circuit of all projects', () => {
  const circuits = having(`Bb${'c'.repeat(8)}a`);
  expect(circuits.isOpen()).toBe(true);
  expect(circuits.send('B')).toBe('-');
  const passing = having(`B${TEN_OF_A}`);
  passing.now += 10 * SECOND_MS - 1;
  expect([passing.begin('B')?.trialOf, passing.begin('B')?.trialOf]).toEqual([null, null]);
  passing.now += 1;
  expect([passing.begin('B')?.trialOf, passing.begin('B')]).toEqual(['provider', null]);
});

it('a success whose time is ahead of a clock that was put back speaks for nobody', () => {
  const circuits = having(`B${TEN_OF_A}`);
  circuits.now -= 10 * SECOND_MS;
  expect(circuits.begin('B')).toMatchObject({ trialOf: 'provider' });
});

it('a project that failed late has no trial before the circuit is half-open, and its own circuit counts no late failure', () => {
  const circuits = new Circuits();
  const late = Array.from({ length: 20 }, () => circuits.begin('B'));
  circuits.send(TEN_OF_A);
  for (const attempt of late) circuits.end(attempt, false);
  expect(circuits.isOpen('B')).toBe(false);
  expect(circuits.send('B')).toBe('-');
  circuits.now += SECOND_MS;
  expect(circuits.send('B')).toBe('B');
});

it('a late failure of another message does not decide a trial, and a late success closes the circuit', () => {
  const circuits = new Circuits();
  const [first, second] = [circuits.begin('A'), circuits.begin('A')];
  circuits.send(TEN_OF_A);
  circuits.now += SECOND_MS;
  circuits.begin('A');
  circuits.end(first, false);
  circuits.now += SECOND_MS;
  expect(circuits.begin('A')).toBeNull();
  circuits.end(second, true);
  expect([circuits.isOpen(), circuits.isOpen('A')]).toEqual([false, false]);
});

it('a trial whose result says nothing leaves the circuit open until the same instant', () => {
  const circuits = having(TEN_OF_A);
  circuits.end(circuits.begin('B'), null);
  expect(circuits.provider.breaker.openUntil).toBe(NOW + SECOND_MS);
  expect(circuits.send('b')).toBe('b');
  circuits.now += SECOND_MS;
  circuits.end(circuits.begin('A'), null);
  expect(circuits.send('aa')).toBe('a-');
});

it('a trial whose result says nothing does not open a circuit that closed meanwhile', () => {
  const circuits = having(TEN_OF_A);
  const late = circuits.begin('B');
  circuits.now += SECOND_MS;
  circuits.send('A');
  circuits.end(late, null);
  expect(circuits.isOpen()).toBe(false);
});

it('a trial whose result never comes lets another one begin after 30 seconds', () => {
  const circuits = having(TEN_OF_A);
  circuits.begin('B');
  circuits.now += HALF_OPEN_MS_MAX - 1;
  expect(circuits.begin('C')).toBeNull();
  circuits.now += 1;
  expect(circuits.begin('C')).toMatchObject({ trialOf: 'provider' });
});

it('trials of a project that fail count for all projects, so that a provider that only it uses is down', () => {
  const circuits = having(`${TEN_OF_A}B`);
  for (const window of [1, 5, 15, 60, 60, 60, 60, 60, 60]) {
    circuits.now += window * SECOND_MS;
    expect(circuits.send('a')).toBe('a');
  }
  expect(circuits.isOpen()).toBe(false);
  circuits.now += 60 * SECOND_MS;
  circuits.send('a');
  expect(circuits.isOpen()).toBe(true);
});
