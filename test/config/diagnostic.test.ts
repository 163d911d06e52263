import { describe, expect, it } from 'vitest';
import {
  ConfigError,
  diagnosticsOf,
  errorAt,
  renderDiagnostic,
  type SourceText,
  type Span,
  warningAt,
} from '../../src/config/diagnostic.ts';

function fileOf(text: string, fileName = 'config.yaml'): SourceText {
  return { fileName, text };
}

/** Renders one error at the first occurrence of `marked`. */
function renderAt(text: string, marked: string, message = 'wrong'): string {
  const start = text.indexOf(marked);
  const problem = errorAt({ file: fileOf(text), start, end: start + marked.length }, message);
  return diagnosticsOf('config.yaml', [problem]).map(renderDiagnostic).join('\n');
}

describe('renderDiagnostic', () => {
  it('shows place, message, line, caret and help', () => {
    const span = { file: fileOf('apps:\n  - nmae: x\n'), start: 10, end: 14 };
    const problem = errorAt(span, 'unknown key "nmae"', 'did you mean "name"?');

    const [diagnostic] = diagnosticsOf('config.yaml', [problem]);

    expect(diagnostic === undefined ? '' : renderDiagnostic(diagnostic)).toBe(
      [
        'config.yaml:2:5: unknown key "nmae"',
        '  2 |   - nmae: x',
        '    |     ^^^^',
        '    = help: did you mean "name"?',
      ].join('\n'),
    );
  });

  it('says when it is a warning', () => {
    const diagnostics = diagnosticsOf('config.yaml', [
      warningAt({ file: fileOf('a: 1'), start: 3, end: 4 }, 'odd'),
    ]);

    expect(diagnostics.map(renderDiagnostic)).toStrictEqual([
      'config.yaml:1:4: warning: odd\n  1 | a: 1\n    |    ^',
    ]);
  });

  it.each([
    { name: 'tabs', text: '\ta:\tbad', shown: ' a: bad', carets: '    ^^^' },
    {
      name: 'terminal escapes',
      text: '\u001b[31m: bad',
      shown: '\ufffd[31m: bad',
      carets: '       ^^^',
    },
    {
      name: 'text direction marks',
      text: '\u202e: bad',
      shown: '\ufffd: bad',
      carets: '   ^^^',
    },
  ])('aligns the carets with $name', ({ text, shown, carets }) => {
    expect(renderAt(text, 'bad')).toMatch(/^config\.yaml:1:\d+: wrong\n/u);
    expect(renderAt(text, 'bad').split('\n').slice(1)).toStrictEqual([
      `  1 | ${shown}`,
      `    | ${carets}`,
    ]);
  });

  it('marks only the first line of a longer value', () => {
    expect(renderAt('a: 1\nb: 2\n', 'a: 1\nb')).toContain('  1 | a: 1\n    | ^^^^');
  });

  it('cuts a long line around the place', () => {
    const rendered = renderAt(`${'x'.repeat(5000)} bad ${'y'.repeat(5000)}`, 'bad');
    const [, line = '', carets = ''] = rendered.split('\n');

    expect(line.length).toBeLessThan(200);
    expect(line.slice(carets.indexOf('^'), carets.lastIndexOf('^') + 1)).toBe('bad');
  });

  it('handles the line endings of Windows', () => {
    expect(renderAt('a: 1\r\nb: bad\r\n', 'bad')).toBe(
      'config.yaml:2:4: wrong\n  2 | b: bad\n    |    ^^^',
    );
  });

  it('keeps the message on one line', () => {
    expect(renderAt('a', 'a', 'odd \n\u001b[0m')).toContain(': odd \\u{a}\\u{1b}[0m\n');
  });
});

describe('diagnosticsOf', () => {
  it('sorts by place, each file by itself, the main one first, and reports each problem once', () => {
    const main = fileOf('a: 1\nb: 2', 'm');
    const others = ['b', 'a\u00e9', 'az'].map((name) => fileOf('x: 1', name));
    const one = errorAt({ file: main, start: 0, end: 1 }, 'one');
    const two = errorAt({ file: main, start: 5, end: 6 }, 'two');
    const included = others.map((file) => errorAt({ file, start: 0, end: 1 }, 'one'));

    const places = diagnosticsOf('m', [...included, two, one, two]).map(
      ({ fileName, line, message }) => `${fileName}:${line} ${message}`,
    );

    expect(places).toStrictEqual(['m:1 one', 'm:2 two', 'az:1 one', 'a\u00e9:1 one', 'b:1 one']);
  });
});

describe('ConfigError', () => {
  it('has every diagnostic in its message', () => {
    const one = errorAt({ file: fileOf('a', 'f'), start: 0, end: 1 }, 'one');
    const error = new ConfigError(diagnosticsOf('f', [one, errorAt(undefined, 'two')]));

    expect(error.message).toBe('f: two\nf:1:1: one\n  1 | a\n    | ^');
    expect(error.diagnostics).toHaveLength(2);
  });

  it.each([
    { count: 50, last: 'f: problem 49' },
    { count: 51, last: 'and 1 more: newrelic-exporter check-config shows all' },
  ])('shows the first fifty of $count diagnostics', ({ count, last }) => {
    const problems = Array.from({ length: count }, (_, at) => errorAt(undefined, `problem ${at}`));

    const error = new ConfigError(diagnosticsOf('f', problems));

    expect(error.message.match(/problem/gu)).toHaveLength(50);
    expect(error.message.split('\n').at(-1)).toBe(last);
    expect(error.diagnostics).toHaveLength(count);
  });
});

describe('a secret in a file', () => {
  /** The last line of a text, as it is shown with a problem at its end. */
  function shown(text: string, secrets: readonly Omit<Span, 'file'>[] = []): string | undefined {
    const file = fileOf(text);
    const end = { file, start: text.length, end: text.length };
    const masked = secrets.map((secret) => ({ file, ...secret }));
    return diagnosticsOf('f', [errorAt(end, 'wrong')], masked)[0]?.sourceLine;
  }

  it.each([
    { name: 'a user key', text: 'x NRAK-ABC y', masked: 'x ******** y' },
    { name: 'a key in lower case', text: 'nrak-abc', masked: '********' },
    { name: 'an admin key', text: 'NRAA-1', masked: '******' },
    { name: 'what follows api_key', text: 'api_key: a b', masked: 'api_key: ***' },
    { name: 'what follows "password"', text: '{"password": x}', masked: '{"password": **' },
    { name: 'credentials of a URL', text: 'http://u:p@ss@h/x', masked: 'http://******@h/x' },
    { name: 'what follows proxy_url', text: 'proxy_url: u:p4ss', masked: 'proxy_url: ******' },
    { name: 'a login in a list', text: 'proxy_url:\n - u:p@h', masked: ' - ***@h' },
    { name: 'a login under another key', text: 'x: u:p@h', masked: 'x: ***@h' },
    { name: 'a password of another key', text: 'proxy_password: x', masked: 'proxy_password: *' },
    { name: 'no file', text: 'proxy_url_file: /run/p', masked: 'proxy_url_file: /run/p' },
    {
      name: 'a licence key',
      text: `k ${'0123456789abcdef'.repeat(2)}0123NRAL`,
      masked: `k ${'*'.repeat(40)}`,
    },
    { name: 'a key of digits', text: `k ${'0'.repeat(40)}`, masked: `k ${'*'.repeat(40)}` },
    { name: 'nothing of a file name', text: 'api_key_file: /x', masked: 'api_key_file: /x' },
    { name: 'nothing of a URL', text: 'http://h/x', masked: 'http://h/x' },
  ])('is masked: $name', ({ text, masked }) => {
    expect(shown(text)).toBe(masked);
  });

  it('is masked at the given places, which may overlap and span lines', () => {
    const secrets = [
      { start: 8, end: 10 },
      { start: 3, end: 7 },
      { start: 4, end: 6 },
    ];

    expect(shown('a: b\ncd efg', secrets)).toBe('** **g');
  });

  it('is masked in a message, whose other words stay', () => {
    const message = 'the same API key: NRAK-A at https://u:p@h';
    const masked = 'the same API key: ****** at https://***@h';

    const [diagnostic] = diagnosticsOf('f', [errorAt(undefined, message, message)]);

    expect(diagnostic).toMatchObject({ message: masked, help: masked });
  });
});
