package injected

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Task is what the tools work on.
type Task struct {
	ID        string `json:"id"`
	Workspace string `json:"workspace"`
	Parent    string `json:"parent,omitempty"` // the task whose session created it
	Title     string `json:"title"`
	Plan      string `json:"plan,omitempty"`
}

// Scope says what a session may touch. It is the server's own authorization: an approved permission request changes
// nothing about it.
type Scope struct {
	Workspace string
	TaskID    string // the session's task, which reaches itself and what it created; empty for a quick chat, which reaches all
	Admin     bool
}

// ErrNotAuthorized is what a call outside of its session's scope fails with.
var ErrNotAuthorized = errors.New("not authorized")

// Tasks is a task board in memory, shared by the sessions of a host.
type Tasks struct {
	mu    sync.Mutex
	tasks map[string]*Task
	next  int
}

// NewTasks makes a board with these tasks on it.
func NewTasks(tasks ...Task) *Tasks {
	board := &Tasks{tasks: map[string]*Task{}}
	for _, task := range tasks {
		board.tasks[task.ID] = &task
	}
	return board
}

// Get returns a copy of a task.
func (t *Tasks) Get(id string) (Task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task, ok := t.tasks[id]; ok {
		return *task, true
	}
	return Task{}, false
}

// List returns copies of the workspace's tasks in the order of their ids.
func (t *Tasks) List(workspace string) []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := []Task{}
	for _, task := range t.tasks {
		if task.Workspace == workspace {
			out = append(out, *task)
		}
	}
	slices.SortFunc(out, func(a, b Task) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func (t *Tasks) create(scope Scope, title string) Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	task := &Task{ID: fmt.Sprintf("new-%d", t.next), Workspace: scope.Workspace, Parent: scope.TaskID, Title: title}
	t.tasks[task.ID] = task
	return *task
}

func (t *Tasks) setPlan(scope Scope, id, plan string) (Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	task, err := t.reachable(scope, id)
	if err != nil {
		return Task{}, err
	}
	task.Plan = plan
	return *task, nil
}

func (t *Tasks) delete(scope Scope, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.reachable(scope, id); err != nil {
		return err
	}
	delete(t.tasks, id)
	return nil
}

// archive is for administrators, which no agent's session is.
func (t *Tasks) archive(scope Scope) error {
	if !scope.Admin {
		return ErrNotAuthorized
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, task := range t.tasks {
		if task.Workspace == scope.Workspace {
			delete(t.tasks, id)
		}
	}
	return nil
}

// reachable finds a task that the session may touch. A task of another workspace and one that isn't there look the same.
func (t *Tasks) reachable(scope Scope, id string) (*Task, error) {
	task, ok := t.tasks[id]
	if !ok || task.Workspace != scope.Workspace {
		return nil, ErrNotAuthorized
	}
	if scope.TaskID != "" && task.ID != scope.TaskID && task.Parent != scope.TaskID {
		return nil, ErrNotAuthorized
	}
	return task, nil
}
