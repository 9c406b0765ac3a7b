/**
 * The second parser: mvdan/sh, as the WebAssembly module of the package `sh-syntax`, driven synchronously. The package's own
 * functions are asynchronous and start a new instance for each text; a judgement can wait for neither. It runs in a thread of its own
 * (second-parser.ts).
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import 'sh-syntax/vendors/wasm_exec';

/** What the module exports, of what is used here (sh-syntax 0.7, lib/processor.js). */
interface Exports {
  memory: { buffer: ArrayBuffer };
  wasmAlloc(bytes: number): number;
  wasmFree(pointer: number): void;
  process(...args: (number | boolean)[]): number;
}

interface GoRuntime {
  importObject: object;
  run(instance: object): Promise<void>;
}

/** Globals without types here: Node's own (the project takes no DOM types), and what `wasm_exec` defines. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Exports };
};
declare const Go: new () => GoRuntime;

const LANG_BASH = 1;
let compiled: object | undefined;

function start(): Exports {
  compiled ??= new WebAssembly.Module(readFileSync(createRequire(import.meta.url).resolve('sh-syntax/main.wasm')));
  const go = new Go();
  const instance = new WebAssembly.Instance(compiled, go.importObject);
  // Resolves when the Go program ends, which it does not; a failure shows in the next call.
  void go.run(instance).catch(() => undefined);
  return instance.exports;
}

/**
 * An instance is used for so many texts. The module's garbage collector now and then frees what it was handed: after some ten thousand texts
 * one was read as another or not at all, memory was accessed out of bounds, and once it never came back. A misreading does no harm, for it is
 * no agreement; an instance for each text would take 1.6 ms of each judgement.
 */
const TEXTS_OF_AN_INSTANCE = 50;
let running: Exports | undefined;
let asked = 0;

/**
 * The text as mvdan/sh prints it on one line: words untouched, one space between them. Undefined when it finds an error, and
 * when it can't be asked: no opinion is never agreement.
 */
export function normalForm(text: string): string | undefined {
  try {
    return ask(instance(), text);
  } catch {
    running = undefined;
  }
  // Whether it was the text or the instance, a new one says.
  try {
    return ask(instance(), text);
  } catch {
    running = undefined;
    return undefined;
  }
}

function instance(): Exports {
  if (running === undefined || asked >= TEXTS_OF_AN_INSTANCE) {
    running = start();
    asked = 0;
  }
  asked += 1;
  return running;
}

function ask({ memory, wasmAlloc, wasmFree, process }: Exports, text: string): string | undefined {
  const pointers: number[] = [];
  const put = (value: string): [number, number, number] => {
    const bytes = new TextEncoder().encode(value);
    const pointer = wasmAlloc(bytes.byteLength);
    pointers.push(pointer);
    new Uint8Array(memory.buffer).set(bytes, pointer);
    return [pointer, bytes.byteLength, bytes.byteLength];
  };
  const print = {
    print: true,
    keepComments: true,
    stopAt: '',
    recoverErrors: 0,
    simplify: false,
    indent: 2,
    singleLine: true,
  };
  const result = process(
    ...put('command.sh'),
    ...put(text),
    print.print,
    print.keepComments,
    LANG_BASH,
    ...put(print.stopAt),
    print.recoverErrors,
    print.simplify,
    print.indent,
    ...[false, false, true, false, false],
    print.singleLine,
    false,
  );
  for (const pointer of pointers) wasmFree(pointer);
  const bytes = new Uint8Array(memory.buffer).subarray(result);
  const answer: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))));
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { text: printed, parseError, message } = answer as { text?: unknown; parseError?: unknown; message?: unknown };
  if (parseError || message || typeof printed !== 'string') return undefined;
  return printed.replace(/\n$/, '');
}
