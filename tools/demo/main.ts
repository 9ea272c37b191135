import { runDemo } from './demo.ts'
import { type DemoOptions, parseOptions, UsageError, usage } from './options.ts'
import { openTerminal } from './terminal.ts'

// A reader that has seen enough, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const interrupt = new AbortController()
  const stop = () => interrupt.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    const options: DemoOptions | undefined = parseOptions(args)
    if (options === undefined) {
      process.stdout.write(usage)
      return 0
    }
    return (await runDemo(options, openTerminal(process.stdout, process.env), interrupt.signal)) ? 0 : 1
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n\n${usage}`)
      return 2
    }
    if (interrupt.signal.aborted) {
      process.stderr.write('\ninterrupted\n')
      return 130
    }
    process.stderr.write(`\n${error instanceof Error ? error.stack : String(error)}\n`)
    return 1
  }
}
