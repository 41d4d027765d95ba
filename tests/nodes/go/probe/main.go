// One program for the pods of tests:
//
//	probe pause            holds the namespaces of a pod and reaps what is orphaned there
//	probe serve            answers with who it is; PORT, CLUSTER, VERSION say where and as what; it ends 5 s after SIGTERM, as a careful application does
//	probe load N RATE URL… N requests to each URL (0: until SIGTERM), RATE a second each, and a JSON line of how many had which status, by URL
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func main() {
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch {
	case command == "pause":
		pause()
	case command == "serve":
		serve()
	case command == "load" && len(os.Args) > 4:
		load(os.Args[2], os.Args[3], os.Args[4:])
	default:
		fmt.Fprintln(os.Stderr, "usage: probe pause | probe serve | probe load N RATE URL...")
		os.Exit(2)
	}
}

func pause() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}

func serve() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "9080"
	}
	host, _ := os.Hostname()
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		answer.Header().Set("content-type", "application/json")
		_ = json.NewEncoder(answer).Encode(map[string]string{
			"pod": host, "cluster": os.Getenv("CLUSTER"), "version": os.Getenv("VERSION"), "path": request.URL.Path,
			"caller": request.Header.Get("x-forwarded-client-cert"),
		})
	})
	server := &http.Server{Addr: ":" + port}
	stopping := make(chan os.Signal, 1)
	signal.Notify(stopping, syscall.SIGTERM)
	go func() {
		<-stopping
		// Until proxies know that this pod is going.
		time.Sleep(5 * time.Second)
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func load(number, rate string, urls []string) {
	count, err := strconv.Atoi(number)
	perSecond, err2 := strconv.Atoi(rate)
	if err != nil || err2 != nil || perSecond < 1 {
		fmt.Fprintln(os.Stderr, "N and RATE must be numbers")
		os.Exit(2)
	}
	var lock sync.Mutex
	results := map[string]map[string]int{}
	failures := []string{}
	note := func(url, result, detail string) {
		lock.Lock()
		defer lock.Unlock()
		if results[url] == nil {
			results[url] = map[string]int{}
		}
		results[url][result]++
		if result != "200" && len(failures) < 20 {
			failures = append(failures, time.Now().Format("15:04:05.000")+" "+url+" "+result+" "+detail)
		}
	}
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var all sync.WaitGroup
	stopping := make(chan os.Signal, 1)
	signal.Notify(stopping, syscall.SIGTERM)
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
requests:
	for i := 0; count == 0 || i < count; i++ {
		select {
		case <-stopping:
			break requests
		case <-tick.C:
		}
		for _, url := range urls {
			all.Add(1)
			go func(url string) {
				defer all.Done()
				answer, err := client.Get(url)
				if err != nil {
					note(url, "error", err.Error())
					return
				}
				text, _ := io.ReadAll(io.LimitReader(answer.Body, 1024))
				_ = answer.Body.Close()
				note(url, strconv.Itoa(answer.StatusCode), string(text))
			}(url)
		}
	}
	all.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"results": results, "failures": failures})
}
