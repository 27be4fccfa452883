import { expect, it } from 'vitest';
import {
  afterBegin,
  afterResult,
  attemptAt,
  type CircuitAttempt,
  CLOSED_PROJECT_CIRCUIT,
  type ProjectCircuit,
  type ProviderCircuits,
} from '../../../src/domain/messages/provider-circuit.ts';
import { type CircuitBreaker, CLOSED_CIRCUIT } from '../../../src/domain/shared/circuit-breaker.ts';
import { NOW, SECOND_MS } from '../../support/builders.ts';

/** The circuits of one provider. */
class Circuits {
  now = NOW;
  provider: CircuitBreaker = CLOSED_CIRCUIT;
  readonly #projects = new Map<string, ProjectCircuit>();

  /** Null when the message was turned away. */
  begin(projectId: string): CircuitAttempt | null {
    const circuits = this.#of(projectId);
    const attempt = attemptAt(circuits, this.now);
    if (attempt !== null) this.#keep(projectId, afterBegin(circuits, attempt, this.now));
    return attempt;
  }

  end(projectId: string, attempt: CircuitAttempt | null, worked: boolean | null): void {
    if (attempt === null) throw new Error('the message was turned away');
    this.#keep(projectId, afterResult(this.#of(projectId), attempt, worked, this.now));
  }

  /** Messages one after another: of project A, B, C when they succeed, of a, b, c when they fail; `-` were turned away. */
  send(results: string): string {
    return [...results]
      .map((sign) => {
        const projectId = sign.toUpperCase();
        const attempt = this.begin(projectId);
        if (attempt === null) return '-';
        this.end(projectId, attempt, sign === projectId);
        return sign;
      })
      .join('');
  }

  isOpen(projectId?: string): boolean {
    const breaker = projectId === undefined ? this.provider : this.#of(projectId).project.breaker;
    return breaker.openUntil !== null;
  }

  #of(projectId: string): ProviderCircuits {
    return {
      project: this.#projects.get(projectId) ?? CLOSED_PROJECT_CIRCUIT,
      provider: this.provider,
    };
  }

  #keep(projectId: string, circuits: ProviderCircuits): void {
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

it('while the circuit of all is open each project tries one message, and waits for no other project', () => {
  const circuits = having(TEN_OF_A);
  const trial = circuits.begin('B');
  expect(trial).toMatchObject({ isTrial: true });
  expect(circuits.begin('B')).toBeNull();
  expect(circuits.begin('C')).toMatchObject({ isTrial: true });
  circuits.end('B', trial, false);
  expect(circuits.send('b')).toBe('-');
});

it('a trial that fails opens the circuit of its project, each time for longer, and that of all no longer', () => {
  const circuits = having('abcdeabcde');
  const { openUntil } = circuits.provider;
  for (const window of [1, 1, 5, 15, 60, 60]) {
    circuits.now += window * SECOND_MS - 1;
    expect(circuits.send('B')).toBe('-');
    circuits.now += 1;
    expect(circuits.send('b')).toBe('b');
  }
  expect(circuits.provider.openUntil).toBe(openUntil);
  expect(circuits.send('CB')).toBe('C-');
});

it('a project with a success in the last ten seconds and no failure since passes an open circuit of all projects', () => {
  const circuits = having(`Bb${'c'.repeat(8)}a`);
  expect(circuits.isOpen()).toBe(true);
  expect(circuits.send('B')).toBe('-');
  const passing = having(`B${TEN_OF_A}`);
  passing.now += 10 * SECOND_MS - 1;
  expect([passing.begin('B')?.isTrial, passing.begin('B')?.isTrial]).toEqual([false, false]);
  passing.now += 1;
  expect([passing.begin('B')?.isTrial, passing.begin('B')]).toEqual([true, null]);
});

it('a success whose time is ahead of a clock that was put back speaks for nobody', () => {
  const circuits = having(`B${TEN_OF_A}`);
  circuits.now -= 10 * SECOND_MS;
  expect(circuits.begin('B')).toMatchObject({ isTrial: true });
});

it('a circuit of a project counts no failure of a message that began before the circuit of all opened', () => {
  const circuits = new Circuits();
  const late = Array.from({ length: 20 }, () => circuits.begin('B'));
  circuits.send(TEN_OF_A);
  for (const attempt of late) circuits.end('B', attempt, false);
  expect(circuits.isOpen('B')).toBe(false);
  expect(circuits.send('B')).toBe('B');
});

it('a late failure of another message does not decide a trial, and a late success closes the circuit', () => {
  const circuits = new Circuits();
  const [first, second] = [circuits.begin('A'), circuits.begin('A')];
  circuits.send(TEN_OF_A);
  circuits.now += SECOND_MS;
  circuits.begin('A');
  circuits.end('A', first, false);
  circuits.now += SECOND_MS;
  expect(circuits.begin('A')).toBeNull();
  circuits.end('A', second, true);
  expect([circuits.isOpen(), circuits.isOpen('A')]).toEqual([false, false]);
});

it('a trial whose result says nothing leaves the circuit of its project as it was: the next message is one', () => {
  const circuits = having(TEN_OF_A);
  circuits.end('B', circuits.begin('B'), null);
  expect(circuits.isOpen('B')).toBe(false);
  expect(circuits.send('bb')).toBe('b-');
  circuits.now += SECOND_MS;
  circuits.end('A', circuits.begin('A'), null);
  expect(circuits.isOpen('A')).toBe(true);
  expect(circuits.send('aa')).toBe('a-');
});

it('a trial whose result says nothing does not open a circuit that closed meanwhile', () => {
  const circuits = having(TEN_OF_A);
  const [success, trial] = [circuits.begin('B'), circuits.begin('C')];
  circuits.end('B', success, true);
  circuits.end('C', trial, null);
  expect([circuits.isOpen(), circuits.isOpen('B'), circuits.isOpen('C')]).toEqual([false, false, false]);
});

it('a trial whose result does not come lets another one of its project begin after ten seconds', () => {
  const circuits = having(TEN_OF_A);
  circuits.begin('B');
  circuits.now += 10 * SECOND_MS - 1;
  expect(circuits.begin('B')).toBeNull();
  circuits.now += 1;
  expect(circuits.begin('B')).toMatchObject({ isTrial: true });
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
