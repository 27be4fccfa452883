import { expect, it } from 'vitest';
import {
  afterBegin,
  afterResult,
  afterThrottled,
  type CircuitPermit,
  CLOSED_COMMON_CIRCUIT,
  CLOSED_PROJECT_CIRCUIT,
  type CommonCircuit,
  commonStateAt,
  isIdle,
  type ProjectCircuit,
  type ProviderCircuits,
  permitAt,
  type ThrottledAll,
  takesNothing,
} from '../../../src/domain/providers/provider-circuit.ts';
import { NOW, SECOND_MS } from '../../support/builders.ts';

/** The circuits of one provider. */
class Circuits {
  now = NOW;
  common: CommonCircuit = CLOSED_COMMON_CIRCUIT;
  readonly #projects = new Map<string, ProjectCircuit>();

  /** Null when the message was turned away. */
  begin(projectId: string): CircuitPermit | null {
    const circuits = this.#of(projectId);
    const attempt = permitAt(circuits, this.now);
    if (attempt !== null) this.#keep(projectId, afterBegin(circuits, attempt, this.now));
    return attempt;
  }

  end(projectId: string, attempt: CircuitPermit | null, worked: boolean | null, isThrottled = false): void {
    if (attempt === null) throw new Error('the message was turned away');
    this.#keep(
      projectId,
      afterResult(projectId, this.#of(projectId), attempt, { worked, isThrottled }, this.now),
    );
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
    const circuit = projectId === undefined ? this.common : this.#of(projectId).project.breaker;
    return circuit.openUntil !== null;
  }

  /** As operators are told. */
  get state(): string {
    return commonStateAt(this.common, this.now);
  }

  isIdle(projectId: string): boolean {
    return isIdle(this.#of(projectId).project, this.now);
  }

  #of(projectId: string): ProviderCircuits {
    return {
      project: this.#projects.get(projectId) ?? CLOSED_PROJECT_CIRCUIT,
      common: this.common,
    };
  }

  #keep(projectId: string, circuits: ProviderCircuits): void {
    this.#projects.set(projectId, circuits.project);
    this.common = circuits.common;
  }
}

const TEN_OF_A = 'a'.repeat(10);
/** The circuits of all and of project A are open. */
const ALL_OPEN = `${TEN_OF_A}ccccc`;
const having = (results: string) => {
  const circuits = new Circuits();
  circuits.send(results);
  return circuits;
};

it('ten failures of one project open its circuit and not that of all, and operators are told that the provider is down', () => {
  const nine = having('a'.repeat(9));
  expect([nine.isOpen(), nine.isOpen('A'), nine.state]).toEqual([false, false, 'closed']);
  const ten = having(`A${TEN_OF_A}`);
  expect([ten.isOpen(), ten.isOpen('A'), ten.state]).toEqual([false, true, 'open']);
  ten.now += SECOND_MS;
  expect(ten.state).toBe('half-open');
  ten.send('B');
  expect([ten.isOpen('A'), ten.state]).toEqual([true, 'closed']);
});

it('of the failures that open the circuit of all, five of one project count', () => {
  const circuits = having(`${TEN_OF_A}bbbb`);
  expect(circuits.isOpen()).toBe(false);
  circuits.send('c');
  expect(circuits.isOpen()).toBe(true);
});

it('failures of projects that are throttled open their own circuits and not that of all, and operators are told', () => {
  const circuits = new Circuits();
  for (const projectId of [...'ABCDE'.repeat(10)])
    circuits.end(projectId, circuits.begin(projectId), false, true);
  expect([...'ABCDE'].every((projectId) => circuits.isOpen(projectId))).toBe(true);
  expect([circuits.isOpen(), circuits.state]).toEqual([false, 'open']);
  expect(circuits.send('FFF')).toBe('FFF');
});

it('a project whose messages fail in tens and succeed between them keeps nobody else waiting', () => {
  const circuits = having('B');
  for (let round = 0; round < 10; round += 1) {
    circuits.now += 61 * SECOND_MS;
    circuits.send(`A${TEN_OF_A}`);
    expect(circuits.isOpen('A')).toBe(true);
    expect([circuits.begin('B')?.isProbe, circuits.begin('B')?.isProbe]).toEqual([false, false]);
  }
});

it('seven failures of ten open the circuit of a project, and operators are told until a message succeeds', () => {
  const circuits = having('AAAaaaaaaa');
  expect([circuits.isOpen('A'), circuits.isOpen(), circuits.state]).toEqual([true, false, 'open']);
});

it('the circuit of a project may be forgotten five minutes after a success, and not after a failure', () => {
  const circuits = having('ABb');
  circuits.now += 300 * SECOND_MS - 1;
  expect([circuits.isIdle('A'), circuits.isIdle('B')]).toEqual([false, false]);
  circuits.now += 1;
  expect([circuits.isIdle('A'), circuits.isIdle('B')]).toEqual([true, false]);
  circuits.send(TEN_OF_A);
  circuits.now += 300 * SECOND_MS;
  expect(circuits.isIdle('A')).toBe(false);
});

it('ten failures of several projects open the circuit of all projects and of none alone', () => {
  const circuits = having('abcdeabcde');
  expect(circuits.isOpen()).toBe(true);
  expect([...'ABCDE'].some((projectId) => circuits.isOpen(projectId))).toBe(false);
  expect(circuits.send('ABCDE')).toBe('-----');
});

it('a success of another project closes the circuit of all projects and leaves that of the project open', () => {
  const circuits = having(`${ALL_OPEN}B`);
  expect([circuits.isOpen(), circuits.isOpen('A')]).toEqual([false, true]);
  expect(circuits.send('AB')).toBe('-B');
});

it('while the circuit of all is open each project tries one message, and waits for no other project', () => {
  const circuits = having(ALL_OPEN);
  const probe = circuits.begin('B');
  expect(probe).toMatchObject({ isProbe: true });
  expect(circuits.begin('B')).toBeNull();
  expect(circuits.begin('D')).toMatchObject({ isProbe: true });
  circuits.end('B', probe, false);
  expect(circuits.send('b')).toBe('-');
});

it('a probe that fails opens the circuit of its project, each time for longer, and that of all no longer', () => {
  const circuits = having('abcdeabcde');
  const { openUntil } = circuits.common;
  for (const window of [1, 1, 5, 15, 60, 60]) {
    circuits.now += window * SECOND_MS - 1;
    expect(circuits.send('B')).toBe('-');
    circuits.now += 1;
    expect(circuits.send('b')).toBe('b');
  }
  expect(circuits.common.openUntil).toBe(openUntil);
  expect(circuits.send('CB')).toBe('C-');
});

it('a project with a success in the last ten seconds and no failure since passes an open circuit of all projects', () => {
  const circuits = having('Bbcccccaaaa');
  expect(circuits.isOpen()).toBe(true);
  expect(circuits.send('B')).toBe('-');
  const passing = having(`B${ALL_OPEN}`);
  passing.now += 10 * SECOND_MS - 1;
  expect([passing.begin('B')?.isProbe, passing.begin('B')?.isProbe]).toEqual([false, false]);
  passing.now += 1;
  expect([passing.begin('B')?.isProbe, passing.begin('B')]).toEqual([true, null]);
});

it('a success whose time is ahead of a clock that was put back speaks for nobody', () => {
  const circuits = having(`B${ALL_OPEN}`);
  circuits.now -= 10 * SECOND_MS;
  expect(circuits.begin('B')).toMatchObject({ isProbe: true });
});

it('a circuit of a project counts no failure of a message that began before the circuit of all opened', () => {
  const circuits = new Circuits();
  const late = Array.from({ length: 20 }, () => circuits.begin('B'));
  circuits.send(ALL_OPEN);
  for (const attempt of late) circuits.end('B', attempt, false);
  expect(circuits.isOpen('B')).toBe(false);
  expect(circuits.send('B')).toBe('B');
});

it('a late failure of another message does not decide a probe, and a late success closes the circuit', () => {
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

it('a probe whose result says nothing leaves the circuit of its project as it was: the next message is one', () => {
  const circuits = having(ALL_OPEN);
  circuits.end('B', circuits.begin('B'), null);
  expect(circuits.isOpen('B')).toBe(false);
  expect(circuits.send('bb')).toBe('b-');
  circuits.now += SECOND_MS;
  circuits.end('A', circuits.begin('A'), null);
  expect(circuits.isOpen('A')).toBe(true);
  expect(circuits.send('aa')).toBe('a-');
});

it('a probe whose result says nothing does not open a circuit that closed meanwhile', () => {
  const circuits = having(ALL_OPEN);
  const [success, probe] = [circuits.begin('B'), circuits.begin('D')];
  circuits.end('B', success, true);
  circuits.end('D', probe, null);
  expect([circuits.isOpen(), circuits.isOpen('B'), circuits.isOpen('D')]).toEqual([false, false, false]);
});

it('a probe whose result does not come lets another one of its project begin after ten seconds', () => {
  const circuits = having(ALL_OPEN);
  circuits.begin('B');
  circuits.now += 10 * SECOND_MS - 1;
  expect(circuits.begin('B')).toBeNull();
  circuits.now += 1;
  expect(circuits.begin('B')).toMatchObject({ isProbe: true });
});

it('probes of a project that fail never open the circuit of all, and operators are told while nobody succeeds', () => {
  const circuits = having(`${TEN_OF_A}B`);
  expect(circuits.state).toBe('closed');
  for (const window of [1, 5, 15, 60, 60, 60, 60, 60, 60, 60, 60]) {
    circuits.now += window * SECOND_MS;
    expect(circuits.send('a')).toBe('a');
    expect([circuits.isOpen(), circuits.state]).toEqual([false, 'open']);
  }
  circuits.send('B');
  expect(circuits.state).toBe('closed');
});

it.each([
  ['five seconds of throttling', [0, 2_500, 5_000], false, true],
  ['less than five seconds of it', [0, 4_999], false, false],
  ['two times that are five seconds apart', [0, 5_000], false, false],
  ['two such times while a circuit is open', [0, 5_000], true, true],
  ['a clock that was put back', [10_000, 0, 4_999], false, false],
])('a provider that says that it takes no more takes nothing after %s', (_, instants, isOpen, expected) => {
  let state: ThrottledAll | null = null;
  for (const now of instants) state = afterThrottled(state, isOpen, now);
  expect(state !== null && takesNothing(state)).toBe(expected);
});
