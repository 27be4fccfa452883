import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from 'vitest/node';

/** What came of one run of the tests. */
export interface TestOutcome {
  /** How many tests passed. */
  readonly passed: number;
  /** The full title of each test that failed, behind its file. */
  readonly failed: readonly string[];
  /** The title of each skipped test's outermost suite. */
  readonly skipped: readonly string[];
  /** Errors outside of tests: of a file that does not load, of hooks, and those that nothing handled. Each is a failure. */
  readonly errors: readonly string[];
}

/** A reporter for vitest: it writes the outcome, as JSON, to the file that `TEST_OUTCOME_FILE` names. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(files: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const { TEST_OUTCOME_FILE } = process.env;
    if (TEST_OUTCOME_FILE === undefined) throw new Error('TEST_OUTCOME_FILE must name a file');
    writeFileSync(TEST_OUTCOME_FILE, JSON.stringify(outcomeOf(files, unhandled)));
  }
}

function outcomeOf(files: readonly TestModule[], unhandled: readonly SerializedError[]): TestOutcome {
  const tests = files.flatMap((file) => [...file.children.allTests()]);
  const inState = (state: 'passed' | 'failed' | 'skipped' | 'pending') =>
    tests.filter((test) => test.result().state === state);
  return {
    passed: inState('passed').length,
    failed: inState('failed').map((test) => `${test.module.relativeModuleId} > ${test.fullName}`),
    skipped: [...inState('skipped'), ...inState('pending')].map(outermostTitle),
    errors: [...files.flatMap(errorsOf), ...unhandled.map((error) => `unhandled: ${describe(error)}`)],
  };
}

/** Of the suite in the file that has the test, or of the test itself. */
function outermostTitle(test: TestCase): string {
  let outermost: TestCase | TestSuite = test;
  while (outermost.parent.type === 'suite') outermost = outermost.parent;
  return outermost.name;
}

/** The errors of a file and of its hooks; those of its tests are not among them. */
function errorsOf(file: TestModule): readonly string[] {
  const suites = [...file.children.allSuites()];
  return [file, ...suites].flatMap((part) =>
    part.errors().map((error) => `${file.relativeModuleId}: ${describe(error)}`),
  );
}

function describe(error: SerializedError): string {
  return error.stack ?? error.message;
}
