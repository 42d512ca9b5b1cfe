// rowan/io/detail/training_files.hpp: TrainingFiles, the last save of a training in a folder, and the one before.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/train/train_checkpoint.hpp>

#include <memory>
#include <string>

namespace rowan::inline v0::detail {

/// `training.rowan` is the last save, and `previous.rowan` the one before. Copies know the same of the last one.
class TrainingFiles {
public:
    /// errors   Error if the name of the folder is empty
    ROWAN_IF_CALLED explicit TrainingFiles(TrainCheckpointOptions const& options);

    std::string const& last() const noexcept { return last_; }
    std::string const& previous() const noexcept { return previous_; }

    /// Whether there is a last save to go on from. Of step 0 there is none, but `begin` may have said so.
    /// errors   FormatError if it is damaged, or missing although there are others or files of ranks; IoError
    bool found() const;
    /// Whether options.previous permits to go on from the save before the last, and there is one.
    /// errors   IoError
    ROWAN_IF_CALLED bool takes_previous() const;
    /// The error of a last save that is damaged, and what can be done.
    ROWAN_IF_CALLED FormatError damaged(FormatError const& error) const;

    /// Makes the folder if there is none.
    /// errors   IoError
    ROWAN_IF_CALLED void make_folder() const;
    /// Writes a save of step 0, which has nothing else, if there is none yet: what follows may leave files of ranks.
    /// errors   IoError
    ROWAN_IF_CALLED void begin() const;
    /// What the next save keeps the last one as: nothing if that is not known to be whole.
    std::string kept_as() const { return *whole_ ? previous_ : std::string(); }
    /// Tells whether the last save is whole: it was loaded, or written.
    void set_whole(bool whole) const noexcept { *whole_ = whole; }

private:
    /// A file of ranks that have saved, or none.
    ROWAN_IF_CALLED std::string file_of_ranks() const;

    std::string folder_, last_, previous_;
    bool may_take_previous_;
    std::shared_ptr<bool> whole_ = std::make_shared<bool>(false);
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/training_files_inl.hpp>
