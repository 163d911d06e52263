// The application beside which the exporter runs, and the program that holds a pod's namespaces.
// Without arguments it only waits; with ports it answers every request to them with 200; with "until" and
// an address it ends as soon as that answers with 200.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func serve(port string) {
	answer := http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(writer, "ok")
	})
	if err := http.ListenAndServe(":"+port, answer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func waitFor(address string) {
	for {
		response, err := http.Get(address)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "until" {
		waitFor(os.Args[2])
		return
	}
	for _, port := range os.Args[1:] {
		go serve(port)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		// As the first process of a pod it has to take leave of others' children.
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
